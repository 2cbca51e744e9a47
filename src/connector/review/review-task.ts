/** Runs that answer many review entries: all that a filter finds, or those of a file. Each is answered as if alone. */
import { sql } from 'kysely';
import {
  countItems,
  pageItems,
  type RunItem,
  readItems,
  readItemsOf,
  storeItems,
} from '../../runtime/runs/run-items.ts';
import type { RunTask, StoredRun } from '../../runtime/runs/runs.ts';
import type { RunFollower, TaskWork } from '../../runtime/runs/work.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import { type Difference, readDifferences } from '../history/differences.ts';
import { LeftError } from '../links/left.ts';
import { type Resolved, resolveIfUnchanged } from './resolve.ts';
import { kindsFor, type ReviewEntry, type ReviewKind, type ReviewVerb, readReviewId } from './review-kinds.ts';
import { differenceEntry, readReview } from './review-list.ts';

/** One answer to all that a filter finds, or the answers of a file. */
export type ReviewRequest = ReviewFilterRequest | { readonly rows: number };

interface ReviewFilterRequest {
  readonly verb: ReviewVerb;
  /** Those of {@link kindsFor} if absent. */
  readonly kind?: ReviewKind | undefined;
  /** How many days an answer holds a value; without an end if absent. */
  readonly days?: number | undefined;
  /** Of kinds whose entries are each of one connection. */
  readonly provider?: string | undefined;
  /** Of differences. */
  readonly property?: string | undefined;
}

export const REVIEW: RunTask<ReviewRequest> = {
  queue: 'review',
  counts: 'entries',
  fine: ['done'],
  hasItems: (input) => 'rows' in input,
  audit({ id: run, input }) {
    if ('rows' in input) return { action: 'review.import', subject: 'answers of a file', detail: { ...input, run } };
    const { verb, ...filter } = input;
    return {
      action: `review.${verb}`,
      subject: `all of kind ${kindsFor(input).join(', ')}`,
      detail: { ...filter, run },
    };
  },
};

type StoredReview = StoredRun<ReviewRequest>;

/**
 * The result for an entry. `given`: read from a file, not yet previewed; `planned`: not yet answered; `changed`: the
 * entry changed after the preview; `settled`: somebody else answered it; `impossible`: this answer does not apply to it.
 */
export type EntryResult = 'given' | 'planned' | 'done' | 'changed' | 'settled' | 'impossible';

/** An entry of a run. */
export interface PlannedAnswer {
  /** As `review` names it. */
  readonly id: string;
  readonly result: EntryResult;
  /** The version of the entry that the preview showed, to detect a later change; empty if the entry has none. */
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
const entryOf = ({ key, kind, detail }: RunItem): PlannedAnswer => ({
  ...JSON.parse(detail),
  id: key,
  result: kind,
});

/** Entries by id; those with the result `done` come last. */
export const readEntries = async (db: Db, id: number, limit: number): Promise<readonly PlannedAnswer[]> =>
  (await readItems(db, id, limit, REVIEW.fine)).map(entryOf);

/** All entries by id, page by page. */
export async function* pageEntries(db: Db, id: number): AsyncGenerator<readonly PlannedAnswer[]> {
  let page: readonly RunItem[] = [];
  do {
    page = await pageItems(db, id, page.at(-1)?.key ?? '', STEP);
    yield page.map(entryOf);
  } while (page.length === STEP);
}

interface ReviewDeps {
  readonly store: Store;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;

/** In one transaction: enough to be quick, few enough not to hold up all else. */
const STEP = 200;

/** How the daemon answers. */
export const reviewWork = (deps: ReviewDeps): TaskWork<ReviewRequest> => ({
  task: REVIEW,
  work(run, follow) {
    const { stage, input } = run;
    if (stage === 'run') return answerAll(deps, run, follow);
    return 'rows' in input ? previewFile(deps, run, follow) : planFilter(deps, { id: run.id, input }, follow);
  },
});

async function planFilter(
  { store, now }: ReviewDeps,
  { id, input }: { readonly id: number; readonly input: ReviewFilterRequest },
  { signal, step }: RunFollower,
): Promise<void> {
  let total = 0;
  for await (const entries of entriesOf(store.db, input, now())) {
    signal.throwIfAborted();
    total += entries.length;
    await step({ done: total, total: null }, (tx) => storeItems(tx, id, entries.map(itemOf)));
  }
  await step({ done: total, total });
}

/** All that the filter finds and that takes the answer, as it is now. */
async function* entriesOf(
  db: Db,
  { verb, kind, provider, property }: ReviewFilterRequest,
  now: number,
): AsyncGenerator<readonly PlannedAnswer[]> {
  const kinds = kindsFor({ verb, kind });
  if (!kinds.includes('difference')) {
    const found = (await readReview(db, now, { kinds, provider })).filter(({ verbs }) => verbs.includes(verb));
    for (let start = 0; start < found.length; start += STEP) yield found.slice(start, start + STEP).map(planned);
    return;
  }
  let page: readonly Difference[] = [];
  do {
    page = await readDifferences(db, now, { provider, property, after: page.at(-1) }, STEP);
    yield page.map((each) => planned(differenceEntry(each)));
  } while (page.length === STEP);
}

const planned = ({ id, about, reason, revision = '' }: ReviewEntry): PlannedAnswer => ({
  id,
  result: 'planned',
  about,
  reason,
  revision,
});

/** Previews the answers of a file: stores the result that each would have now, and answers nothing. */
function previewFile(deps: ReviewDeps, run: StoredReview, follow: RunFollower): Promise<void> {
  const find = reviewFinder();
  return eachOf(deps, { run, kind: 'given' }, follow, async (tx, given, now) => {
    const { about = '', reason = '' } = (await find(tx, given.id, now)) ?? {};
    const entry = { ...given, about, reason };
    await sql`savepoint look`.execute(tx);
    const seen = await answerOne(tx, run, entry, now);
    await sql`rollback to savepoint look`.execute(tx);
    await sql`release savepoint look`.execute(tx);
    return seen.result === 'done' ? { ...entry, result: 'planned' } : seen;
  });
}

/** Finds things by their ids: a difference by its key, of the other kinds each one in a list that is read once. */
function reviewFinder() {
  const lists = new Map<ReviewKind, ReadonlyMap<string, ReviewEntry>>();
  return async (db: Db, id: string, now: number): Promise<ReviewEntry | undefined> => {
    const named = readReviewId(id);
    if (named === undefined) return undefined;
    const { kind, parts } = named;
    if (kind === 'difference') {
      const [provider, recordId, property] = parts;
      const [found] = await readDifferences(db, now, { provider, recordId, property }, 1);
      return found && differenceEntry(found);
    }
    const known = lists.get(kind);
    if (known !== undefined) return known.get(id);
    const list = new Map((await readReview(db, now, { kinds: [kind] })).map((each) => [each.id, each]));
    lists.set(kind, list);
    return list.get(id);
  };
}

/** Continues with what is still planned: after a restart, with what was not answered before it. */
const answerAll = (deps: ReviewDeps, run: StoredReview, follow: RunFollower): Promise<void> =>
  eachOf(deps, { run, kind: 'planned' }, follow, (tx, entry, now) => answerOne(tx, run, entry, now));

/** Does `work` for all entries that still have this result, some in a transaction. */
async function eachOf(
  { store, now }: ReviewDeps,
  { run: { id }, kind }: { readonly run: StoredReview; readonly kind: EntryResult },
  { signal, step }: RunFollower,
  work: (tx: Tx, entry: PlannedAnswer, now: number) => Promise<PlannedAnswer>,
): Promise<void> {
  const counts = await countItems(store.db, id);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = total - (counts.get(kind) ?? 0);
  for (;;) {
    signal.throwIfAborted();
    const some = (await readItemsOf(store.db, id, kind, STEP)).map(entryOf);
    done += some.length;
    await step({ done, total }, async (tx) => {
      const answered: PlannedAnswer[] = [];
      for (const entry of some) answered.push(await work(tx, entry, now()));
      await storeItems(tx, id, answered.map(itemOf), 'done');
    });
    if (some.length < STEP) return;
  }
}

async function answerOne(
  tx: Tx,
  { input, actor, via }: StoredReview,
  entry: PlannedAnswer,
  now: number,
): Promise<PlannedAnswer> {
  const verb = 'rows' in input ? entry.verb : input.verb;
  if (verb === undefined) throw new Error(`an entry of a file has no answer: ${entry.id}`);
  const days = 'rows' in input ? undefined : input.days;
  const until = days === undefined ? null : now + days * DAY_MS;
  const resolved = await resolveIfUnchanged(tx, verb, { ...entry, until, by: { actor, via } }, now).catch(
    impossibleIfLeft,
  );
  switch (resolved.kind) {
    case 'done':
      return { ...entry, result: 'done', note: resolved.note };
    case 'impossible':
      return { ...entry, result: 'impossible', note: resolved.reason };
    case 'changed':
      return { ...entry, result: 'changed' };
    case 'unknown':
      return { ...entry, result: 'settled' };
  }
}

/** The other entries are answered. Nothing was changed for this one: what refuses comes first. */
function impossibleIfLeft(error: unknown): Resolved {
  if (error instanceof LeftError) return { kind: 'impossible', reason: error.message };
  throw error;
}
