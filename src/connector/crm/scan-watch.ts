/** Detects a scan that never ends, which a faulty provider may cause. */
import { setImmediate } from 'node:timers/promises';
import { type Page, ProviderError } from '../../../providers/provider.ts';

/** No CRM returns so many empty pages in a row. */
const MOST_EMPTY = 1_000;

/** Call it with each page; throws if the scan repeats a cursor or returns only empty pages. */
export function watchScan(name: string): (page: Page) => Promise<void> {
  const seen = new Set<string>();
  let empty = 0;
  const unending = (why: string) =>
    new ProviderError('unavailable', `the list of companies of ${name} never ends: ${why}`);
  return async ({ records, cursor }) => {
    // A provider may answer without a call, and then no signal would be heard.
    await setImmediate();
    if (cursor === undefined) return;
    if (seen.has(cursor)) throw unending('a cursor came twice');
    seen.add(cursor);
    empty = records.length === 0 ? empty + 1 : 0;
    if (empty === MOST_EMPTY) throw unending(`${MOST_EMPTY} pages in a row hold no record`);
  };
}
