/** Watches a scan of a CRM, which a provider that is wrong may never end. */
import { setImmediate } from 'node:timers/promises';
import { type Page, ProviderError } from '../../../providers/provider.ts';

/** No CRM gives so many pages in a row without a record. */
const MOST_EMPTY = 1_000;

/** Is shown each page of one scan; throws if it goes in a circle, or on and on without a record. */
export function watchScan(name: string): (page: Page) => Promise<void> {
  const seen = new Set<string>();
  let empty = 0;
  const unending = (why: string) =>
    new ProviderError('unavailable', `the list of companies of ${name} stands still: ${why}`);
  return async ({ records, cursor }) => {
    // A provider may answer without a call; signals would never be heard of then.
    await setImmediate();
    if (cursor === undefined) return;
    if (seen.has(cursor)) throw unending('a cursor came twice');
    seen.add(cursor);
    empty = records.length === 0 ? empty + 1 : 0;
    if (empty === MOST_EMPTY) throw unending(`${MOST_EMPTY} pages in a row hold no record`);
  };
}
