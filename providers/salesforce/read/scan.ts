import { type Page, ProviderError } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { isAccountId } from '../client/ids.ts';
import type { SalesforceSchema } from './fields.ts';
import { idOf, valuesOf } from './read.ts';
import { scanQuery } from './soql.ts';

/** Salesforce's largest page; long texts may shorten it. */
const SCAN_PAGE = 2_000;

/** Reads one page of all accounts in the order of their ids; the cursor is its last id. */
export async function scanAccounts(
  calls: Calls,
  names: readonly string[],
  schema: SalesforceSchema,
  cursor: string | undefined,
): Promise<Page> {
  if (cursor !== undefined && !isAccountId(cursor)) {
    throw new ProviderError('refused', 'the cursor of the scan is not one of Salesforce; start the scan again');
  }
  const { rows, done } = await calls.query(scanQuery(names, cursor, SCAN_PAGE));
  const records = rows.map((row) => ({ id: idOf(row), properties: valuesOf(row, names, schema) }));
  const last = records.at(-1);
  // A page that is not the last may be short: only its last id says how to continue.
  return last === undefined || (done && rows.length < SCAN_PAGE) ? { records } : { records, cursor: last.id };
}
