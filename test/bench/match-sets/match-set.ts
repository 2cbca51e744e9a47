/** Matches the records of a set with an index of its companies. */

import type { MatchResult } from '../../../src/match/decide/confidence.ts';
import { storeEntries } from '../../../src/match/index/write.ts';
import { matchRecords } from '../../../src/match/match.ts';
import type { Store } from '../../../src/store/store.ts';
import type { PatternCount } from './fit.ts';
import type { LabelledSet } from './set.ts';

const ENTRIES = 2_000;
const RECORDS = 100;

/** The records that a match looks at: a backfill links those whose number is a company's. */
export function withoutNumber({ entries, records, ...set }: LabelledSet): LabelledSet {
  const numbers = new Set(entries.map(({ company }) => company));
  const isNumbered = (number: string): boolean => numbers.has(number.replace(/^\D+/u, '').replaceAll(/\s/gu, ''));
  return { ...set, entries, records: records.filter(({ record }) => !isNumbered(record.number ?? '')) };
}

/** The results in the order of the records; the store has no index before. */
export async function matchSet(store: Store, { entries, records }: LabelledSet): Promise<readonly MatchResult[]> {
  for (let at = 0; at < entries.length; at += ENTRIES)
    await store.write((tx) => storeEntries(tx, entries.slice(at, at + ENTRIES)));
  const results: MatchResult[] = [];
  for (let at = 0; at < records.length; at += RECORDS) {
    const batch = records.slice(at, at + RECORDS).map(({ record }) => record);
    results.push(...(await matchRecords(store.db, batch)));
  }
  return results;
}

/** How often which pattern was right. */
export function countPatterns({ records }: LabelledSet, results: readonly MatchResult[]): readonly PatternCount[] {
  const seen = results.flatMap(({ pattern, candidates: [first] }, at) =>
    pattern === undefined ? [] : [{ pattern, isRight: first?.company === records[at]?.company }],
  );
  return [...Map.groupBy(seen, ({ pattern }) => pattern)].map(([pattern, of]) => ({
    pattern,
    of: of.length,
    right: of.filter(({ isRight }) => isRight).length,
  }));
}
