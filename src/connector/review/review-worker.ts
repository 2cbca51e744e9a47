/** Plans answers to all that a filter finds, and carries them out: some entries at a time, each as if it were answered alone. */
import { sql } from 'kysely';
import { countItems, readItemsOf, storeItems, storeProgress } from '../../runtime/runs/runs.ts';
import type { TaskWork } from '../../runtime/runs/work.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import { type Difference, readDifferences } from '../history/differences.ts';
import { resolveIfUnchanged } from './resolve.ts';
import { type ReviewEntry, type ReviewKind, readReviewId } from './review-kinds.ts';
import { differenceEntry, readReview } from './review-list.ts';
import {
  auditReview,
  type EntryResult,
  entryOf,
  itemOf,
  type PlannedAnswer,
  REVIEW,
  type ReviewRequest,
  type StoredReview,
} from './review-runs.ts';

interface ReviewDeps {
  readonly store: Store;
  readonly now: () => number;
}

/** In one transaction: enough to be quick, few enough not to hold up all else. */
const STEP = 200;

/** How a run of answers is done. */
export const reviewWork = (deps: ReviewDeps): TaskWork<ReviewRequest> => ({
  task: REVIEW,
  work: (run, signal) => (run.stage === 'preview' ? plan(deps, run, signal) : answerAll(deps, run, signal)),
  async audit(tx, run, error) {
    const counts = [...(await countItems(tx, run.id))].map(([kind, count]) => `${count} ${kind}`).join(', ');
    await auditReview(tx, run, `${error === null ? 'done' : `failed: ${error}`}; ${counts}`, deps.now());
  },
});

function plan(deps: ReviewDeps, run: StoredReview, signal: AbortSignal): Promise<void> {
  const { input } = run;
  return 'rows' in input ? lookAtAll(deps, run, signal) : planFilter(deps, run.id, input, signal);
}

type FilterRequest = Exclude<ReviewRequest, { readonly rows: number }>;

async function planFilter(
  { store, now }: ReviewDeps,
  id: number,
  input: FilterRequest,
  signal: AbortSignal,
): Promise<void> {
  let total = 0;
  for await (const entries of entriesOf(store.db, input, now())) {
    signal.throwIfAborted();
    total += entries.length;
    const goesOn = await store.write(async (tx) => {
      if (!(await storeProgress(tx, id, { done: total, total: null }))) return false;
      await storeItems(tx, id, entries.map(itemOf));
      return true;
    });
    if (!goesOn) return;
  }
  await store.write((tx) => storeProgress(tx, id, { done: total, total }));
}

/** All that the filter finds and that takes the answer, as it is now. */
async function* entriesOf(
  db: Db,
  { verb, kind, provider, property }: FilterRequest,
  now: number,
): AsyncGenerator<readonly PlannedAnswer[]> {
  if (kind !== 'difference') {
    const found = (await readReview(db, now, { kinds: [kind] })).filter(({ verbs }) => verbs.includes(verb));
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

/** Looks at what a file gave, and changes nothing: what each answer would come to now. */
function lookAtAll(deps: ReviewDeps, run: StoredReview, signal: AbortSignal): Promise<void> {
  const find = reviewFinder();
  return eachOf(deps, run, { kind: 'given', signal }, async (tx, given, now) => {
    const { about = '', reason = '' } = (await find(tx, given.id, now)) ?? {};
    const entry = { ...given, about, reason };
    await sql`savepoint look`.execute(tx);
    const seen = await answerOne(tx, run.input, entry, now);
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

/** Goes on with what is still planned: after a restart, with what was not answered before it. */
const answerAll = (deps: ReviewDeps, run: StoredReview, signal: AbortSignal): Promise<void> =>
  eachOf(deps, run, { kind: 'planned', signal }, (tx, entry, now) => answerOne(tx, run.input, entry, now));

/** Does something to all entries that are at one point yet, some in a transaction. */
async function eachOf(
  { store, now }: ReviewDeps,
  { id }: StoredReview,
  { kind, signal }: { readonly kind: EntryResult; readonly signal: AbortSignal },
  work: (tx: Tx, entry: PlannedAnswer, now: number) => Promise<PlannedAnswer>,
): Promise<void> {
  const counts = await countItems(store.db, id);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = total - (counts.get(kind) ?? 0);
  for (let isOpen = true; isOpen; ) {
    signal.throwIfAborted();
    isOpen = await store.write(async (tx) => {
      const step = (await readItemsOf(tx, id, kind, STEP)).map(entryOf);
      if (!(await storeProgress(tx, id, { done: done + step.length, total }))) return false;
      const answered: PlannedAnswer[] = [];
      for (const entry of step) answered.push(await work(tx, entry, now()));
      await storeItems(tx, id, answered.map(itemOf));
      done += step.length;
      return step.length === STEP;
    });
  }
}

async function answerOne(tx: Tx, input: ReviewRequest, entry: PlannedAnswer, now: number): Promise<PlannedAnswer> {
  const verb = 'rows' in input ? entry.verb : input.verb;
  if (verb === undefined) throw new Error(`an entry of a file has no answer: ${entry.id}`);
  const resolved = await resolveIfUnchanged(tx, verb, entry, now);
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
