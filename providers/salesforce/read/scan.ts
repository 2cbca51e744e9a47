/** All accounts, a page at a time, in the order of their ids. */
import { type Page, ProviderError } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { isAccountId } from '../client/ids.ts';
import type { SalesforceSchema } from './fields.ts';
import { idOf, valuesOf } from './read.ts';
import { scanQuery } from './soql.ts';

/** The largest page Salesforce gives; long texts may make it shorter. */
const SCAN_PAGE = 2_000;

/** One page; the cursor is the id it ends with. */
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
  // A page that is not the last one may be short; only the id it ends with says where to go on.
  return last === undefined || (done && rows.length < SCAN_PAGE) ? { records } : { records, cursor: last.id };
}
