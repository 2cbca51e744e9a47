/**
 * Reads which companies a webhook names, in the old shape (`company.*`) and the new one (`object.*` with a type id). It
 * ignores the kind of event: HubSpot sends a deletion for each company that was merged away, and events repeat and arrive
 * in any order, so the runtime reads the records.
 */
import type { CrmRequest, WebhookRead } from '../../provider.ts';
import { isRecordId } from '../client/batch.ts';
import type { HubspotSettings } from '../client/hubspot-settings.ts';
import { refusalOf } from './signature.ts';

const COMPANY_TYPE = '0-2';

export function readWebhook(request: CrmRequest, settings: HubspotSettings, now: number): WebhookRead {
  const { clientSecret } = settings;
  if (clientSecret === undefined)
    return { kind: 'refused', reason: 'HubSpot webhooks need clientSecret in the settings of the provider' };
  const refusal = refusalOf(request, clientSecret, now);
  if (refusal !== undefined) return { kind: 'refused', reason: `this is not a request of HubSpot: ${refusal}` };
  const events = parseEvents(request.body);
  if (events === undefined) return { kind: 'unreadable', reason: 'HubSpot sent no JSON list of events' };
  return { kind: 'records', ids: [...new Set(events.filter(isAboutCompanies).flatMap(idsOf))] };
}

type Event = Readonly<Record<string, unknown>>;

function parseEvents(body: Uint8Array): readonly Event[] | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    const list = Array.isArray(json) ? json : [json];
    return list.every((event): event is Event => typeof event === 'object' && event !== null && !Array.isArray(event))
      ? list
      : undefined;
  } catch {
    return undefined;
  }
}

/** Changes of associations do not concern the company itself. */
function isAboutCompanies(event: Event): boolean {
  const type = String(event.subscriptionType ?? event.eventType ?? '');
  if (type.endsWith('.associationChange')) return false;
  return type.startsWith('company.') || (type.startsWith('object.') && event.objectTypeId === COMPANY_TYPE);
}

const idsOf = ({ objectId, primaryObjectId, newObjectId, mergedObjectIds }: Event): readonly string[] =>
  [objectId, primaryObjectId, newObjectId, ...(Array.isArray(mergedObjectIds) ? mergedObjectIds : [])]
    .map(String)
    .filter(isRecordId);
