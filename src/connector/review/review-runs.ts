/** Answers to all that a filter finds in review: which entries they are, and what became of each. */
import { type AuditActor, recordAudit } from '../../runtime/operators/audit.ts';
import {
  cancelRun,
  type RunItem,
  type RunRef,
  type RunTask,
  readItems,
  requestRun,
  type StoredRun,
} from '../../runtime/runs/runs.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { ReviewKind, ReviewVerb } from './review-kinds.ts';

/** What is asked for: one answer to all that a filter finds, or the answers of a file. */
export type ReviewRequest = ReviewFilterRequest | { readonly rows: number };

interface ReviewFilterRequest {
  readonly verb: ReviewVerb;
  readonly kind: ReviewKind;
  /** Of differences. */
  readonly provider?: string | undefined;
  readonly property?: string | undefined;
}

export const REVIEW: RunTask<ReviewRequest> = {
  queue: 'review',
  readInput: (text) => JSON.parse(text),
  hasItems: (input) => 'rows' in input,
};

/** A run of answers as it stands; counted in entries. */
export type StoredReview = StoredRun<ReviewRequest>;

/**
 * What becomes of an entry: `given` as a file has it until it is looked at, `planned` until it is answered; `changed` if it is another one than the plan showed, `settled`
 * if somebody else answered it, `impossible` if it does not take the answer.
 */
export type EntryResult = 'given' | 'planned' | 'done' | 'changed' | 'settled' | 'impossible';

/** An entry of a run. */
export interface PlannedAnswer {
  /** As `review` names it. */
  readonly id: string;
  readonly result: EntryResult;
  /** What tells whether it is still what the plan showed; empty if nothing does. */
  readonly revision: string;
  /** Its own answer, from a file. */
  readonly verb?: ReviewVerb | undefined;
  /** What it is about, and why it needs a person. */
  readonly about: string;
  readonly reason: string;
  /** What the answer did, or why it did not. */
  readonly note?: string | undefined;
}

/** An entry as it is stored. */
export const itemOf = ({ id, result, ...detail }: PlannedAnswer): RunItem => ({
  key: id,
  kind: result,
  detail: JSON.stringify(detail),
});

/** A stored entry as it was. */
export const entryOf = ({ key, kind, detail }: RunItem): PlannedAnswer => ({
  ...JSON.parse(detail),
  id: key,
  result: kind,
});

/** Entries by id: those that were done after all others. */
export const readEntries = async (db: Db, id: number, limit: number): Promise<readonly PlannedAnswer[]> =>
  (await readItems(db, id, limit, ['done'])).map(entryOf);

/** Asks for the answers that were planned. False if the plan is not ready, or was carried out or cancelled already. */
export async function requestAnswers(tx: Tx, ref: RunRef, now: number): Promise<boolean> {
  const review = await requestRun(tx, REVIEW, ref, now);
  if (review !== undefined) await auditReview(tx, review, `begun for ${review.total} entries`, now);
  return review !== undefined;
}

/** Stops a run before its next entries. False if it had ended already. What was answered stays answered. */
export async function cancelAnswers(tx: Tx, { id, actor }: RunRef, now: number): Promise<boolean> {
  const review = await cancelRun(tx, REVIEW, id, now);
  if (review?.stage === 'run')
    await auditReview(tx, { ...review, actor }, `cancelled after ${review.done} entries`, now);
  return review !== undefined;
}

/** Tells the audit what came of a run. */
export const auditReview = (
  tx: Tx,
  { id, input, actor }: { readonly id: number; readonly input: ReviewRequest; readonly actor: AuditActor },
  result: string,
  now: number,
): Promise<void> => {
  const { action, subject, ...detail } = wordsOf(input);
  return recordAudit(tx, { actor, via: 'page', action, subject, detail: { ...detail, run: id }, result }, now);
};

function wordsOf(input: ReviewRequest) {
  if ('rows' in input) return { action: 'review.import', subject: 'answers of a file', rows: input.rows };
  const { verb, ...filter } = input;
  return { action: `review.${verb}`, subject: `all of kind ${input.kind}`, ...filter };
}
