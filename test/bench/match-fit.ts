/**
 * match-fit: fits the table of patterns on the labelled sets, and writes src/match/decide/pattern-table.ts. The seeds are others
 * than those that `match` and the tests judge with. The same sets make the same table.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/engines/open.ts';
import { fitShares, type PatternCount, tableRows } from './match-sets/fit.ts';
import { countPatterns, matchSet, withoutNumber } from './match-sets/match-set.ts';
import { SETS, type SetMaker } from './match-sets/sets.ts';
import { report } from './measure.ts';

const SEEDS = [9_001, 9_002, 9_003, 9_004, 9_005, 9_006];
const RECORDS = 4_000;
const TABLE = new URL('../../src/match/decide/pattern-table.ts', import.meta.url);

async function countsOf(make: SetMaker, seed: number): Promise<readonly PatternCount[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cvrsync-fit-'));
  const store = await openStore(join(folder, 'store.db'));
  try {
    const set = withoutNumber(make(seed, RECORDS));
    return countPatterns(set, await matchSet(store, set));
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const counts: PatternCount[] = [];
for (const make of SETS) for (const seed of SEEDS) counts.push(...(await countsOf(make, seed)));
const rows = tableRows(fitShares(counts)).map(([key, row]) => `${key}: ${row}`);
writeFileSync(
  TABLE,
  `/**
 * The fitted shares, in per mille: written by \`npm run bench -- match-fit\`, never by hand. A row holds those of a kind, a name
 * and an address; in it a group for each phone and domain, and in the group a share for each rival (pattern.ts).
 */
export const SHARES = \`\n${rows.join('\n')}\n\`;\n`,
);
const patterns = new Set(counts.map(({ pattern }) => pattern)).size;
report('match-fit', { records: counts.reduce((sum, { of }) => sum + of, 0), patterns, rows: rows.length }, {}, true);
