/** A benchmark may trust the labelled sets: they are the same for each run, and consistent. */
import { describe, expect, test } from 'vitest';
import { crmExports } from '../bench/match-sets/crm-exports.ts';
import { salesLists } from '../bench/match-sets/sales-lists.ts';

describe.each([
  ['CRM exports', crmExports],
  ['sales lists', salesLists],
])('the labelled set of %s', (_, make) => {
  const { entries, records } = make(7, 200);

  test('is the same for the same seed, and another for another', () => {
    expect(make(7, 200)).toEqual({ name: expect.any(String), entries, records });
    expect(make(8, 200).records).not.toEqual(records);
  });

  test('has a register of four companies for each record, with numbers of their own', () => {
    expect(records.length).toBe(200);
    expect(entries.length).toBeGreaterThanOrEqual(800);
    expect(new Set(entries.map(({ number }) => number)).size).toBe(entries.length);
  });

  test('labels companies of the register, with the same end', () => {
    const known = new Map(entries.map((entry) => [entry.number, entry]));
    const meant = records.filter(({ company }) => company !== null);
    expect(meant.filter(({ company }) => !known.has(company ?? ''))).toEqual([]);
    expect(meant.filter(({ company, hasEnded }) => (known.get(company ?? '')?.ended != null) !== hasEnded)).toEqual([]);
  });

  test('has every trap equally often, and no company for 20 to 30 % of the records', () => {
    const counts = Object.values(Object.groupBy(records, ({ trap }) => trap)).map((each) => each?.length ?? 0);
    expect(counts.length).toBeGreaterThanOrEqual(25);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    const share = records.filter(({ company }) => company === null).length / records.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.3);
  });

  test('labels a trap without an answer as one', () => {
    expect(records.filter(({ trap, company }) => trap.endsWith('-undecidable') && company !== null)).toEqual([]);
  });
});
