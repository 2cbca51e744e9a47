import { type Outcome, type ParentRead, ProviderError } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { isAccountId, toLongId } from '../client/ids.ts';
import { textOf } from '../client/json.ts';
import type { SalesforceSchema } from '../read/fields.ts';
import { readAccounts } from '../read/read.ts';
import { type FieldSource, updateAccounts } from './update.ts';

const PARENT = 'ParentId';

export async function readParents(
  calls: Calls,
  ids: readonly string[],
  schema: SalesforceSchema,
): Promise<readonly ParentRead[]> {
  if (!schema.has(PARENT)) throw noRight('is hidden from');
  return (await readAccounts(calls, ids, [PARENT], schema)).map((read): ParentRead => {
    if (read.kind === 'retry') throw new ProviderError('unavailable', read.reason);
    if (read.kind !== 'found') return read;
    const parent = textOf(read.properties[PARENT]);
    return { kind: 'found', id: read.id, parent: parent === undefined ? null : toLongId(parent) };
  });
}

/** Writes one parent; Salesforce refuses a circle of parents, which comes back as `rejected`. */
export async function writeParent(
  calls: Calls,
  { id, parent }: { readonly id: string; readonly parent: string | null },
  fields: FieldSource,
): Promise<Outcome> {
  if (parent !== null && !isAccountId(parent)) {
    const reason = `${parent} is not the id of an account`;
    return { kind: 'rejected', id, reason, properties: { [PARENT]: reason } };
  }
  const value = parent === null ? null : toLongId(parent);
  const [outcome] = await updateAccounts(calls, [{ id, properties: { [PARENT]: value } }], fields);
  // Distinguish this record, such as a person account, from a right that is missing for all.
  if (outcome?.kind === 'rejected' && outcome.properties[PARENT]?.includes('INVALID_FIELD') === true) {
    const field = (await calls.describe()).find(({ name }) => name === PARENT);
    if (field?.updateable !== true) throw noRight('cannot be written by');
  }
  if (outcome?.kind === 'written') return { kind: 'written', id };
  return outcome ?? { kind: 'retry', id, reason: 'Salesforce did not report an outcome for this account' };
}

const noRight = (what: string): ProviderError =>
  new ProviderError(
    'refused',
    `ParentId of Account ${what} the user of this connection; give it read and edit access to Parent Account`,
  );
