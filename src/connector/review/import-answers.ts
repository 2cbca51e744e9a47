/** Answers that a person wrote into the list of review, as a file: read, checked row by row, and planned as a run. */

import { type CsvLine, type CsvProblem, readCsv } from '../../runtime/files/csv-rows.ts';
import { storeItems } from '../../runtime/runs/run-items.ts';
import { type RunCaller, requestPreview } from '../../runtime/runs/runs.ts';
import type { Tx } from '../../store/store.ts';
import { SAFETY_LIMIT_KEY } from '../follow/safety-limit.ts';
import { type ReviewKind, type ReviewVerb, readReviewId, VERBS } from './review-kinds.ts';
import { itemOf, REVIEW } from './review-task.ts';

/** An answer to one entry of its own. */
export interface AnswerRow {
  readonly id: string;
  readonly verb: ReviewVerb;
  /** The version of the entry that the person saw; empty if the entry has none. */
  readonly revision: string;
}

/** The answers of a file, or all that is wrong with it, of which the first is told. */
export type AnswerFile =
  | { readonly kind: 'read'; readonly rows: readonly AnswerRow[] }
  | { readonly kind: 'empty' }
  | { readonly kind: 'wrong'; readonly count: number; readonly problems: readonly CsvProblem[] };

/** Kinds of things that may become another thing before they are answered, and so need a revision; so do safety limits. */
const CHANGING: ReadonlySet<ReviewKind> = new Set(['difference', 'link', 'match']);

const needsRevision = ({ kind, parts }: NonNullable<ReturnType<typeof readReviewId>>): boolean =>
  CHANGING.has(kind) || (kind === 'lane' && parts[1] === SAFETY_LIMIT_KEY);

const MOST_SHOWN = 20;
const STEP = 1_000;

/** Reads a file. Rows without an answer are passed over. */
export async function readAnswerFile(file: string): Promise<AnswerFile> {
  const rows = new Map<string, AnswerRow>();
  const problems: CsvProblem[] = [];
  let count = 0;
  for await (const row of readCsv(file, ['id', 'answer', 'revision'])) {
    const read = 'problem' in row ? row : rowIn(row, rows);
    if (read === undefined) continue;
    if ('problem' in read) {
      count += 1;
      if (problems.length < MOST_SHOWN) problems.push(read);
    } else rows.set(read.id, read);
  }
  if (count > 0) return { kind: 'wrong', count, problems };
  return rows.size === 0 ? { kind: 'empty' } : { kind: 'read', rows: [...rows.values()] };
}

/** Asks for a preview of such answers; nothing is answered yet. */
export async function requestFileAnswers(
  tx: Tx,
  rows: readonly AnswerRow[],
  caller: RunCaller,
  now: number,
): Promise<number> {
  // What an entry is about is read from the store when it is looked at: a file may be old, and anybody's.
  const items = rows.map((row) => itemOf({ ...row, result: 'given', about: '', reason: '' }));
  const id = await requestPreview(tx, REVIEW, { input: { rows: items.length }, ...caller }, now);
  for (let start = 0; start < items.length; start += STEP) await storeItems(tx, id, items.slice(start, start + STEP));
  return id;
}

/** What is wrong with the entry that an answer names; undefined if nothing is. */
export function problemOf({ id, revision }: Pick<AnswerRow, 'id' | 'revision'>): string | undefined {
  const named = readReviewId(id);
  if (named === undefined)
    return `${id === '' ? 'the id is blank' : `${id} is not an id`}: take the list from the page of review`;
  if (revision === '' && needsRevision(named))
    return `the revision of ${id} is blank: it says what you saw; fetch the list again`;
  return undefined;
}

function rowIn({ line, cell }: CsvLine, before: ReadonlyMap<string, AnswerRow>): AnswerRow | CsvProblem | undefined {
  const text = cell('answer').toLowerCase();
  if (text === '') return undefined;
  const verb = VERBS.find((each) => each === text);
  if (verb === undefined) return { line, problem: `the answer is ${text}: write ${VERBS.join(', ')}, or nothing` };
  const row = { id: cell('id'), verb, revision: cell('revision') };
  const problem = before.has(row.id) ? `${row.id} is in the file twice` : problemOf(row);
  return problem === undefined ? row : { line, problem };
}
