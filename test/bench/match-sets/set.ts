/** A labelled set: companies, and records of a CRM with the company that each means. */
import type { RecordText } from '../../../src/match/describe/described.ts';
import type { IndexEntry } from '../../../src/match/describe/entry.ts';

export interface SetRecord {
  /** What makes the record hard to match. */
  readonly trap: string;
  readonly record: RecordText;
  /** The CVR number of the company that is meant; null if the index does not hold it. */
  readonly company: string | null;
  readonly hasEnded: boolean;
}

export interface LabelledSet {
  readonly name: string;
  readonly entries: readonly IndexEntry[];
  readonly records: readonly SetRecord[];
}
