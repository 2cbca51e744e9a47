import { type Created, type PropertyValue, ProviderError } from '../../provider.ts';
import { isRecordId } from '../client/batch.ts';
import type { Apis } from '../client/client.ts';
import type { HubspotErrorBody } from '../client/error-body.ts';
import { HubspotRefusal, reasonOf } from '../client/faults.ts';
import { byUnique } from '../read/holders.ts';
import { toHubspot } from '../read/values.ts';

/**
 * Creates one company: one call, and one more if HubSpot says that it has the company but not which. HubSpot does not
 * look for duplicates by name or domain.
 */
export async function createCompany(apis: Apis, properties: Readonly<Record<string, PropertyValue>>): Promise<Created> {
  const texts = Object.fromEntries(
    Object.entries(properties).flatMap(([name, value]) => (value === null ? [] : [[name, toHubspot(value)]])),
  );
  try {
    const { id } = await apis.companies.create({ properties: texts, associations: [] });
    if (!isRecordId(id)) throw new ProviderError('unavailable', 'HubSpot created a company and did not return its id');
    return { kind: 'created', id };
  } catch (error) {
    if (!(error instanceof HubspotRefusal) || error.status === 404) throw error;
    return await decideRefused(apis, texts, error);
  }
}

async function decideRefused(
  apis: Apis,
  texts: Readonly<Record<string, string>>,
  refused: HubspotRefusal,
): Promise<Created> {
  const { body } = refused;
  const reason = body.properties.map((fault) => `${fault.name}: ${fault.reason}`).join('; ') || reasonOf(body);
  const clash = body.properties.find(({ code }) => code === 'CONFLICTING_UNIQUE_VALUE');
  if (clash !== undefined || refused.status === 409) {
    const id = existingId(body) ?? (await holderOf(apis, clash?.name, texts));
    return { kind: 'duplicate', reason, id };
  }
  const own = body.properties.filter(({ name }) => Object.hasOwn(texts, name));
  return { kind: 'rejected', reason, properties: Object.fromEntries(own.map((fault) => [fault.name, fault.reason])) };
}

/** `Existing ID: 123`, and `123 already has that value`. */
const existingId = (body: HubspotErrorBody): string | undefined => {
  const text = [body.message, ...body.properties.map(({ reason }) => reason)].join(' ');
  return /Existing ID: (\d+)/i.exec(text)?.[1] ?? /\b(\d{1,20}) already has that value/i.exec(text)?.[1];
};

async function holderOf(
  apis: Apis,
  property: string | undefined,
  texts: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const value = property === undefined ? undefined : texts[property];
  if (property === undefined || value === undefined) return undefined;
  return (await byUnique(apis, property, value))?.[0]?.id;
}
