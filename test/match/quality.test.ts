import { describe, expect, it } from 'vitest';
import type { MatchResult } from '../../src/match/decide/confidence.ts';
import type { IndexEntry } from '../../src/match/describe/entry.ts';
import { storeEntries } from '../../src/match/index/write.ts';
import { matchRecords } from '../../src/match/match.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../support/stores.ts';
import { measureQuality, type Quality, shareOf, trapTable } from './measure.ts';
import { type LabelledRecord, labelledRecords } from './records.ts';
import { labelledRegister } from './register.ts';

const register = labelledRegister(1, 4_000);
const labelled = labelledRecords(2, register, 3_400);

/** Matches the records with an index of these entries. */
async function qualityOn(
  engine: (typeof ENGINES)[number],
  entries: readonly IndexEntry[],
  records: readonly LabelledRecord[],
): Promise<Quality & { readonly told: string }> {
  const store = await newStore(engine);
  for (let at = 0; at < entries.length; at += 2_000)
    await store.write((tx) => storeEntries(tx, entries.slice(at, at + 2_000)));
  const results: MatchResult[] = [];
  for (let at = 0; at < records.length; at += 100)
    results.push(
      ...(await matchRecords(
        store.db,
        records.slice(at, at + 100).map(({ record }) => record),
      )),
    );
  const quality = measureQuality(records, results);
  const { precision, recall, wrong } = quality;
  return {
    ...quality,
    told: [trapTable(quality), ...[precision, recall, ...wrong].map((one) => JSON.stringify(one))].join('\n'),
  };
}

describe.each(SUITE_ENGINES)('the quality of a match on %s', (engine) => {
  it('meets the design’s demands', { timeout: 120_000 }, async () => {
    const { precision, recall, told } = await qualityOn(engine, register.entries, labelled);
    expect(shareOf(precision.certain), told).toBeGreaterThanOrEqual(0.998);
    expect(shareOf(precision.likely), told).toBeGreaterThanOrEqual(0.95);
    expect(shareOf(recall), told).toBeGreaterThanOrEqual(0.85);
    if (process.env['SHOW']) throw new Error(told);
  });
});

it('takes no neighbour for certain where a quarter of the companies is missing in the index', {
  timeout: 120_000,
}, async () => {
  const random = randomFrom(9);
  const isMissing = new Map(register.companies.map(({ main }) => [main.number, random.chance(0.25)]));
  const missing = new Set(
    register.companies.flatMap(({ main, units }) => (isMissing.get(main.number) ? [main, ...units] : [])),
  );
  const entries = register.entries.filter((entry) => !missing.has(entry));
  const records = labelled.map((one) => (isMissing.get(one.company ?? '') ? { ...one, company: null } : one));
  const { precision, told } = await qualityOn('sqlite', entries, records);
  expect(records.filter((one, at) => one.company !== labelled[at]?.company).length).toBeGreaterThan(400);
  expect(shareOf(precision.certain), told).toBeGreaterThanOrEqual(0.998);
  expect(shareOf(precision.likely), told).toBeGreaterThanOrEqual(0.95);
});
