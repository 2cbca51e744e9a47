/**
 * match-sets: judges the scorer on the five labelled sets, with other seeds than those of which the table is made. Prints
 * for each set what is right, the share right by tenth of the score and the confusion by trap; then the same of all sets.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/engines/open.ts';
import { measureQuality, shareOf } from '../match/measure.ts';
import { equalRecall, type JudgedSet, setLines, tenthLine, tenthsOf } from './match-sets/judge-sets.ts';
import { matchSet, withoutNumber } from './match-sets/match-set.ts';
import { SETS, type SetMaker } from './match-sets/sets.ts';
import { report, round } from './measure.ts';

const SEED = Number(process.env['CVRSYNC_BENCH_SEED'] ?? 101);
const RECORDS = 4_000;
const AIM = { certain: 0.998, certainMatches: 3_000, likely: 0.95, recall: 0.8, offByTenth: 3, recordsPerSecond: 500 };
/** In a tenth of fewer records chance alone is more than the aim. */
const ENOUGH = 200;

async function judged(make: SetMaker): Promise<JudgedSet & { readonly ms: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'cvrsync-sets-'));
  const store = await openStore(join(folder, 'store.db'));
  try {
    const set = withoutNumber(make(SEED, RECORDS));
    await matchSet(store, { ...set, records: [] });
    const began = performance.now();
    const results = await matchSet(store, { ...set, entries: [] });
    return { set, results, ms: performance.now() - began };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const sets: (JudgedSet & { readonly ms: number })[] = [];
for (const make of SETS) {
  const one = await judged(make);
  sets.push(one);
  process.stdout.write(`${setLines(one).join('\n')}\n\n`);
}
process.stdout.write(`all sets: ${tenthLine(sets)}\n`);
const records = sets.flatMap(({ set }) => set.records);
const { precision } = measureQuality(
  records,
  sets.flatMap(({ results }) => results),
);
const off = tenthsOf(sets).filter(({ of }) => of >= ENOUGH);
const measured = {
  records: records.length,
  certain: round(shareOf(precision.certain), 4),
  certainMatches: precision.certain?.of ?? 0,
  likely: round(shareOf(precision.likely), 3),
  recall: round(equalRecall(sets), 3),
  offByTenth: round(Math.max(...off.map(({ score, right }) => Math.abs(score - right))), 1),
  recordsPerSecond: round((records.length * 1_000) / sets.reduce((sum, { ms }) => sum + ms, 0)),
};
const ok =
  measured.certain >= AIM.certain &&
  measured.certainMatches >= AIM.certainMatches &&
  measured.likely >= AIM.likely &&
  measured.recall >= AIM.recall &&
  measured.offByTenth <= AIM.offByTenth &&
  measured.recordsPerSecond >= AIM.recordsPerSecond;
report('match-sets', measured, AIM, ok);
