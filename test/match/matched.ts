/** The match of a record in one line. */
import type { RecordText } from '../../src/match/describe/described.ts';
import type { IndexEntry } from '../../src/match/describe/entry.ts';
import { reasonText } from '../../src/match/evidence/weights.ts';
import { storeEntries } from '../../src/match/index/write.ts';
import { matchRecords } from '../../src/match/match.ts';
import { newStore } from '../support/stores.ts';

/** The confidence, the companies and the reasons of the first, as one line. */
export async function matched(entries: readonly IndexEntry[], record: RecordText): Promise<string> {
  const store = await newStore('sqlite');
  await store.write((tx) => storeEntries(tx, entries));
  const [result] = await matchRecords(store.db, [record]);
  if (result === undefined) throw new Error('no result');
  const reasons = result.candidates[0]?.findings.map((one) => reasonText(one, 'en')) ?? [];
  return [result.confidence, result.candidates.map(({ company }) => company).join(' '), reasons.join('; ')]
    .filter((part) => part !== '')
    .join(' | ');
}
