/** Scans that would never end. */
import { expect, test } from 'vitest';
import { watchScan } from '../../../src/connector/crm/scan-watch.ts';

const RECORDS = [{ id: '1', properties: {} }];

/** Shows pages until the watch has had enough, or `most` were shown; what it said. */
async function shown(most: number, page: (at: number) => Parameters<ReturnType<typeof watchScan>>[0]) {
  const watch = watchScan('crm');
  for (let at = 0; at < most; at++) {
    const said = await watch(page(at)).catch((error: Error) => error.message);
    if (said !== undefined) return `${at}: ${said}`;
  }
  return 'nothing';
}

test('a circular scan ends when a cursor repeats', async () => {
  const circle = (at: number) => ({ records: RECORDS, cursor: at % 2 === 0 ? 'a' : 'b' });
  expect(await shown(9, circle)).toBe('2: the list of companies of crm never ends: a cursor came twice');
});

test('a scan ends after a thousand pages without a record, but not if one of them has a record', async () => {
  const empty = (at: number) => ({ records: [], cursor: String(at) });
  expect(await shown(2_000, empty)).toMatch(/^999: .* 1000 pages in a row hold no record$/u);
  expect(await shown(2_000, (at) => (at === 900 ? { records: RECORDS, cursor: 'x' } : empty(at)))).toMatch(/^1900: /u);
});

test('other work runs between the pages of a provider that makes no call', async () => {
  let isDue = false;
  setTimeout(() => {
    isDue = true;
  }, 1);
  const watch = watchScan('crm');
  const until = performance.now() + 60_000;
  for (let at = 0; !isDue && performance.now() < until; at++) await watch({ records: RECORDS, cursor: String(at) });
  expect(isDue).toBe(true);
});
