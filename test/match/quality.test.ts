import { describe, expect, it } from 'vitest';
import { storeEntries } from '../../src/match/index/write.ts';
import { matchRecords } from '../../src/match/match.ts';
import { ENGINES, newStore } from '../support/stores.ts';
import { measureQuality, shareOf, trapTable } from './measure.ts';
import { labelledRecords } from './records.ts';
import { labelledRegister } from './register.ts';

const register = labelledRegister(1, 4_000);
const labelled = labelledRecords(2, register, 2_900);

describe.each(ENGINES)('the quality of a match on %s', (engine) => {
  it('is what the design demands', { timeout: 120_000 }, async () => {
    const store = await newStore(engine);
    for (let at = 0; at < register.entries.length; at += 2_000)
      await store.write((tx) => storeEntries(tx, register.entries.slice(at, at + 2_000)));
    const results = [];
    for (let at = 0; at < labelled.length; at += 100)
      results.push(
        ...(await matchRecords(
          store.db,
          labelled.slice(at, at + 100).map(({ record }) => record),
        )),
      );
    const quality = measureQuality(labelled, results);
    const told = [
      trapTable(quality),
      JSON.stringify(quality.precision),
      JSON.stringify(quality.recall),
      ...quality.wrong.map((one) => JSON.stringify(one)),
    ].join('\n');
    expect(shareOf(quality.precision.certain), told).toBeGreaterThanOrEqual(0.998);
    expect(shareOf(quality.precision.likely), told).toBeGreaterThanOrEqual(0.95);
    expect(shareOf(quality.recall), told).toBeGreaterThanOrEqual(0.85);
    if (process.env['SHOW']) throw new Error(told);
  });
});
