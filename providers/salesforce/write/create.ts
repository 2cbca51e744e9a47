import { type Created, type PropertyValue, ProviderError } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { isAboutRecords, SalesforceRefusal, say } from '../client/errors.ts';
import { toLongId } from '../client/ids.ts';
import type { SalesforceSchema } from '../read/fields.ts';
import { toSalesforce } from '../read/values.ts';
import { decideByErrors } from './decide-update.ts';
import type { FieldSource } from './update.ts';

type Properties = Readonly<Record<string, PropertyValue>>;

/**
 * Creates one account: one call, and a describe if a field is unknown. It obeys duplicate rules, alerts too, because
 * nobody has confirmed that the account is not a duplicate. An answer without the new id is `unavailable`.
 */
export async function createAccount(calls: Calls, properties: Properties, fields: FieldSource): Promise<Created> {
  const schema = await fields.known();
  if (missing(properties, schema).length > 0) {
    const unknown = missing(properties, await fields.fresh());
    if (unknown.length > 0) return withoutFields(unknown);
  }
  try {
    return { kind: 'created', id: toLongId(await calls.create('/sobjects/Account', recordOf(properties, schema))) };
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || !isAboutRecords(error)) throw error;
    return decideRefused(error, properties, fields);
  }
}

/** A new record is blank anyway. */
const recordOf = (properties: Properties, schema: SalesforceSchema): Record<string, PropertyValue> =>
  Object.fromEntries(
    Object.entries(properties)
      .map(([name, value]) => [name, toSalesforce(value, schema.get(name))] as const)
      .filter(([, value]) => value !== null),
  );

const missing = (properties: Properties, schema: SalesforceSchema): readonly string[] =>
  Object.keys(properties).filter((name) => !schema.has(name));

async function decideRefused(answer: SalesforceRefusal, properties: Properties, fields: FieldSource): Promise<Created> {
  const { errors } = answer;
  const double = errors.find(({ code }) => code === 'DUPLICATE_VALUE' || code === 'DUPLICATES_DETECTED');
  if (double !== undefined) {
    const rule = double.duplicate?.rule === undefined ? '' : `; found by the duplicate rule ${double.duplicate.rule}`;
    const id = double.duplicate?.ids[0] ?? idIn(double.message);
    return { kind: 'duplicate', reason: say(double) + rule, id };
  }
  if (errors.some(({ code }) => code === 'INVALID_FIELD')) {
    const hidden = missing(properties, await fields.fresh());
    if (hidden.length > 0) return withoutFields(hidden);
  }
  const decision = decideByErrors({ id: '', properties }, errors);
  if (decision === 'missing' || decision.kind === 'written')
    return { kind: 'rejected', reason: answer.message, properties: {} };
  if (decision.kind === 'rejected')
    return { kind: 'rejected', reason: decision.reason, properties: decision.properties };
  throw new ProviderError('unavailable', `Salesforce did not create the account: ${answer.message}`, { cause: answer });
}

/** The message is in the user's language, but it holds the id of the other record. */
function idIn(message: string): string | undefined {
  const id = /\b001[0-9A-Za-z]{12}(?:[0-9A-Za-z]{3})?\b/.exec(message)?.[0];
  return id === undefined ? undefined : toLongId(id);
}

function withoutFields(names: readonly string[]): Created {
  const reason = 'Account has no such field, or hides it from the user of this connection (INVALID_FIELD)';
  return { kind: 'rejected', reason, properties: Object.fromEntries(names.map((name) => [name, reason])) };
}
