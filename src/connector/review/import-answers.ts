/** Answers that a person wrote into the list of review, as a file: read, checked row by row, and planned as a run. */

import { type CsvLine, type CsvProblem, readCsv } from '../../runtime/files/csv-rows.ts';
import { type RunCaller, requestPreview, storeItems } from '../../runtime/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { SAFETY_LIMIT_KEY } from '../follow/safety-limit.ts';
import { type ReviewKind, readReviewId, VERBS } from './review-kinds.ts';
import { itemOf, type PlannedAnswer, REVIEW } from './review-task.ts';

/** What came of a file: a run that looks at its answers, or all that is wrong with it, of which the first is told. */
export type ImportResult =
  | { readonly kind: 'taken'; readonly run: number }
  | { readonly kind: 'empty' }
  | { readonly kind: 'wrong'; readonly count: number; readonly problems: readonly CsvProblem[] };

/** Kinds of things that may become another thing before they are answered, and so need a revision; so do safety limits. */
const CHANGING: ReadonlySet<ReviewKind> = new Set(['difference', 'link', 'match']);

const needsRevision = ({ kind, parts }: NonNullable<ReturnType<typeof readReviewId>>): boolean =>
  CHANGING.has(kind) || (kind === 'lane' && parts[1] === SAFETY_LIMIT_KEY);

const MOST_SHOWN = 20;
const STEP = 1_000;

/** Reads a file, and asks for a preview of its answers. Rows without an answer are passed over; nothing is answered yet. */
export async function importAnswers(
  { store, now }: { readonly store: Store; readonly now: () => number },
  { file, ...caller }: RunCaller & { readonly file: string },
): Promise<ImportResult> {
  const entries = new Map<string, PlannedAnswer>();
  const problems: CsvProblem[] = [];
  let count = 0;
  for await (const row of readCsv(file, ['id', 'answer', 'revision'])) {
    const read = 'problem' in row ? row : entryIn(row, entries);
    if (read === undefined) continue;
    if ('problem' in read) {
      count += 1;
      if (problems.length < MOST_SHOWN) problems.push(read);
    } else entries.set(read.id, read);
  }
  if (count > 0) return { kind: 'wrong', count, problems };
  if (entries.size === 0) return { kind: 'empty' };
  const items = [...entries.values()].map(itemOf);
  const run = await store.write(async (tx) => {
    const id = await requestPreview(tx, REVIEW, { input: { rows: items.length }, ...caller }, now());
    for (let start = 0; start < items.length; start += STEP) await storeItems(tx, id, items.slice(start, start + STEP));
    return id;
  });
  return { kind: 'taken', run };
}

function entryIn(
  { line, cell }: CsvLine,
  before: ReadonlyMap<string, PlannedAnswer>,
): PlannedAnswer | CsvProblem | undefined {
  const text = cell('answer').toLowerCase();
  if (text === '') return undefined;
  const id = cell('id');
  const verb = VERBS.find((each) => each === text);
  if (verb === undefined) return { line, problem: `the answer is ${text}: write ${VERBS.join(', ')}, or nothing` };
  const named = readReviewId(id);
  if (named === undefined)
    return {
      line,
      problem: `${id === '' ? 'the id is blank' : `${id} is no id`}: take the list from the page of review`,
    };
  if (before.has(id)) return { line, problem: `${id} stands in the file twice` };
  const revision = cell('revision');
  if (revision === '' && needsRevision(named))
    return { line, problem: `the revision of ${id} is blank: it says what you saw; fetch the list again` };
  // What it is about is read from the store when it is looked at: a file may be old, and anybody's.
  return { id, result: 'given', verb, about: '', reason: '', revision };
}
