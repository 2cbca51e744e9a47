/** The answers that people gave in review, each with what it replaced, so that it can be taken back. */
import { readErasures } from '../../store/erasure/erasures.ts';
import type { ReviewAnswerTable } from '../../store/schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { ReusedIds } from '../intake/reused-ids.ts';
import type { Link } from '../links/links.ts';
import type { ReviewKind, ReviewVerb } from './review-kinds.ts';

/** What an answer to each kind of entry replaced; what cvrsync finds again by itself is not kept. */
export interface Replaced {
  readonly link: Pick<Link, 'entity' | 'state' | 'reason' | 'mismatch' | 'desired' | 'origin'>;
  readonly match: { readonly linked?: string; readonly rejected: readonly string[] };
  readonly lane: { readonly error: string; readonly parkedAt: number };
  readonly event: { readonly reason: string };
  readonly sender: ReusedIds;
  /** Addresses, each with when cvrsync was to try it again. */
  readonly mail: readonly (readonly [address: string, retryAt: number | null])[];
  readonly difference: { readonly properties: readonly string[] };
  readonly value: Record<string, never>;
}

/** The kinds of entries with an answer that can be taken back. */
export type TakeBackKind = keyof Replaced;

/** The answers that can be taken back. The others have effects that nothing takes back, or only try again. */
const TAKEN_BACK: Readonly<Record<ReviewVerb, readonly TakeBackKind[]>> = {
  retry: [],
  drop: ['lane', 'link', 'value', 'event', 'sender', 'mail'],
  accept: ['difference', 'link', 'match'],
  keep: ['difference', 'link', 'match', 'lane'],
};

/** Whether an answer can be taken back. */
export const canTakeBack = (verb: ReviewVerb, kind: ReviewKind): boolean =>
  TAKEN_BACK[verb].some((each) => each === kind);

/** The last answer to an entry. */
export interface GivenAnswer {
  readonly verb: ReviewVerb;
  readonly at: number;
  /** JSON of what it replaced: `Replaced` of the entry's kind. */
  readonly replaced: string;
}

/** Keeps what an answer replaced; forgets an earlier answer to the same entry if this one replaced nothing. */
export async function storeAnswer(
  tx: Tx,
  subject: string,
  { verb, replaced }: { readonly verb: ReviewVerb; readonly replaced: Replaced[TakeBackKind] | undefined },
  now: number,
): Promise<void> {
  if (replaced === undefined) return forgetAnswer(tx, subject);
  const { redact } = await readErasures(tx);
  const row = { verb, at: now, replaced: JSON.stringify(redact(replaced)) };
  await tx
    .insertInto('review_answer')
    .values({ subject, ...row })
    .onConflict((conflict) => conflict.column('subject').doUpdateSet(row))
    .execute();
}

/** The answer to an entry that can be taken back; undefined if there is none. */
export const findAnswer = (db: Db, subject: string): Promise<GivenAnswer | undefined> =>
  db.selectFrom('review_answer').select(['verb', 'at', 'replaced']).where('subject', '=', subject).executeTakeFirst();

export async function forgetAnswer(tx: Tx, subject: string): Promise<void> {
  await tx.deleteFrom('review_answer').where('subject', '=', subject).execute();
}

/** Where a list of answers goes on. */
export type AnswerPlace = Pick<ReviewAnswerTable, 'at' | 'subject'>;

/** Answers that can be taken back, the newest first. */
export const readAnswers = (
  db: Db,
  limit: number,
  after?: AnswerPlace,
): Promise<readonly Omit<ReviewAnswerTable, 'replaced'>[]> =>
  db
    .selectFrom('review_answer')
    .select(['subject', 'verb', 'at'])
    .$if(after !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('at', 'subject'), '<', tuple(after?.at ?? 0, after?.subject ?? '')),
      ),
    )
    .orderBy('at', 'desc')
    .orderBy('subject', 'desc')
    .limit(limit)
    .execute();
