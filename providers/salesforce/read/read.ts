import { type PropertyValue, ProviderError, type Read } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { faultOf, SalesforceRefusal, unexpectedAnswer } from '../client/errors.ts';
import { isAccountId, toLongId } from '../client/ids.ts';
import { textOf } from '../client/json.ts';
import type { AccountRow } from '../client/update-call.ts';
import type { SalesforceSchema } from './fields.ts';
import { fromSalesforce } from './values.ts';
import { findWhereabouts, type Whereabouts } from './whereabouts.ts';

/** Reads up to 200 accounts in one call, and looks up missing ones, 60 in a call. */
export async function readAccounts(
  calls: Calls,
  ids: readonly string[],
  names: readonly string[],
  schema: SalesforceSchema,
): Promise<readonly Read[]> {
  const asked = [...new Set(ids.filter(isAccountId).map(toLongId))];
  if (asked.length === 0) return ids.map((id) => ({ kind: 'gone', id }));
  const rows = new Map<string, AccountRow>();
  for (const row of await calls.retrieve(asked, [...new Set(['Id', ...names])])) {
    const id = textOf(row.Id);
    if (id !== undefined) rows.set(toLongId(id), row);
  }
  const missing = asked.filter((id) => !rows.has(id));
  const { found, fault } = await whereaboutsOf(calls, missing, rows.size > 0);
  return ids.map((id): Read => {
    const row = rows.get(toLongId(id));
    if (row !== undefined) return { kind: 'found', id, properties: valuesOf(row, names, schema) };
    const at = found.get(toLongId(id));
    if (at?.kind === 'moved') return { kind: 'moved', id, to: at.to };
    if (at?.kind === 'there')
      return { kind: 'retry', id, reason: 'Salesforce did not return this account, though it exists' };
    return fault === undefined || !isAccountId(id)
      ? { kind: 'gone', id }
      : { kind: 'retry', id, reason: fault.message };
  });
}

/** The id of a query's row; a row without one is not an account. */
export function idOf(row: AccountRow): string {
  const id = textOf(row.Id);
  if (id === undefined) throw unexpectedAnswer('a query for accounts');
  return toLongId(id);
}

export const valuesOf = (
  row: AccountRow,
  names: readonly string[],
  schema: SalesforceSchema,
): Readonly<Record<string, PropertyValue>> =>
  Object.fromEntries(names.map((name) => [name, fromSalesforce(row[name], schema.get(name))]));

/** Returns a fault rather than throw it if other results are known: the next call meets it again. */
export async function whereaboutsOf(
  calls: Calls,
  ids: readonly string[],
  somethingKnown: boolean,
): Promise<{ readonly found: ReadonlyMap<string, Whereabouts>; readonly fault?: ProviderError }> {
  if (ids.length === 0) return { found: new Map() };
  try {
    return { found: await findWhereabouts(calls, ids) };
  } catch (error) {
    const fault = error instanceof SalesforceRefusal ? faultOf(error) : error;
    if (!(fault instanceof ProviderError) || !somethingKnown) throw fault;
    return { found: new Map(), fault };
  }
}
