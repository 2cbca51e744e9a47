/** Applies an operator's answer to entries of review: by their ids, or to all of some kinds. */
import type { DifferenceFilter } from '../../connector/history/difference-rows.ts';
import { countDifferences, type Difference, readDifferences } from '../../connector/history/differences.ts';
import { type Resolved, resolveIfUnchanged } from '../../connector/review/resolve.ts';
import type { ReviewEntry, ReviewVerb } from '../../connector/review/review-kinds.ts';
import { differenceEntry, readReview } from '../../connector/review/review-list.ts';
import { attempt, perform, Refused } from '../../operations/operation.ts';
import { ANSWERS, CHANGED } from '../../operations/review.ts';
import type { Store } from '../../store/store.ts';
import { commandActor } from '../arguments/actor.ts';

export type Choice =
  | { readonly ids: readonly string[] }
  | { readonly kinds: readonly ReviewEntry['kind'][] | undefined; readonly filter: DifferenceFilter };

/** An entry with the version that the person saw; without one if the person named it by its id. */
type Seen = Pick<ReviewEntry, 'id' | 'revision'>;

export interface Result {
  readonly id: string;
  readonly result: Resolved | { readonly kind: 'changed' };
}

/** The results. There may be a million of them, so they are counted. */
export interface Answered {
  readonly count: number;
  /** How many ended with the same note. */
  readonly notes: ReadonlyMap<string, number>;
  /** Every result if `keepResults` is set, otherwise the failed ones. */
  readonly results: readonly Result[];
  /** Ids that wait for a decision, which a retry or a drop of everything does not make. */
  readonly leftOut: readonly string[];
}

export interface AnswerOptions {
  readonly verb: ReviewVerb;
  /** Called with their number before all entries of a kind are answered. */
  readonly mayTake: (count: number) => Promise<boolean> | boolean;
  readonly keepResults: boolean;
}

/** The entries in one transaction: enough to be fast, few enough not to hold up the daemon. */
const CHUNK = 200;

export const hasFailed = ({ result }: Result): boolean => result.kind !== 'done';

/** Answers the chosen entries; undefined if the operator declines. */
export async function answerReview(
  store: Store,
  choice: Choice,
  options: AnswerOptions,
): Promise<Answered | undefined> {
  if ('ids' in choice) return tallied(answerNamed(store, options.verb, choice.ids), { ...options, keepResults: true });
  const { kinds, filter } = choice;
  if (kinds?.includes('difference')) {
    const askedAt = Date.now();
    const isMeant = await options.mayTake(await countDifferences(store.db, askedAt, filter));
    return isMeant ? tallied(answerDifferences(store, options.verb, { ...filter, askedAt }), options) : undefined;
  }
  const found = await readReview(store.db, Date.now(), { kinds });
  const taking = found.filter(({ verbs }) => verbs.includes(options.verb));
  if (!(await options.mayTake(taking.length))) return undefined;
  // A retry of everything after an outage is not a decision.
  const leavesDecisions = options.verb === 'retry' || options.verb === 'drop';
  const leftOut = leavesDecisions ? found.filter(({ decides }) => decides).map(({ id }) => id) : [];
  return tallied(answerEach(store, options.verb, taking), options, leftOut);
}

async function tallied(
  chunks: AsyncIterable<readonly Result[]>,
  { keepResults }: AnswerOptions,
  leftOut: readonly string[] = [],
): Promise<Answered> {
  const notes = new Map<string, number>();
  const results: Result[] = [];
  let count = 0;
  for await (const chunk of chunks) {
    count += chunk.length;
    for (const { result } of chunk) {
      const note = result.kind === 'done' ? result.note : 'not done';
      notes.set(note, (notes.get(note) ?? 0) + 1);
    }
    results.push(...(keepResults ? chunk : chunk.filter(hasFailed)));
  }
  return { count, notes, results, leftOut };
}

/** Each as an operation of its own, with its entry in the audit. */
async function* answerNamed(store: Store, verb: ReviewVerb, ids: readonly string[]): AsyncGenerator<readonly Result[]> {
  const by = { actor: commandActor(), via: 'command' } as const;
  for (const id of ids) {
    const answered = await attempt(() => perform(ANSWERS[verb], { id }, { store, now: Date.now }, by));
    yield [{ id, result: answered instanceof Refused ? resultOf(answered) : { kind: 'done', note: answered.note } }];
  }
}

function resultOf({ kind, code, message, issues }: Refused): Result['result'] {
  if (kind === 'unknown' || issues.length > 0) return { kind: 'unknown' };
  return code === CHANGED ? { kind: 'changed' } : { kind: 'impossible', reason: message };
}

async function* answerEach(store: Store, verb: ReviewVerb, all: readonly Seen[]): AsyncGenerator<readonly Result[]> {
  for (let start = 0; start < all.length; start += CHUNK)
    yield resolveAll(store, verb, all.slice(start, start + CHUNK));
}

/** Omits differences that came after `askedAt`, or that another person settled meanwhile. */
async function* answerDifferences(
  store: Store,
  verb: ReviewVerb,
  { askedAt, ...filter }: DifferenceFilter & { readonly askedAt: number },
): AsyncGenerator<readonly Result[]> {
  let page: readonly Difference[] = [];
  do {
    page = await readDifferences(store.db, askedAt, { ...filter, after: page.at(-1) }, CHUNK);
    const seen = page.filter(({ since }) => (since ?? 0) <= askedAt).map(differenceEntry);
    yield (await resolveAll(store, verb, seen)).filter(({ result }) => result.kind !== 'unknown');
  } while (page.length === CHUNK);
}

const resolveAll = (store: Store, verb: ReviewVerb, all: readonly Seen[]): Promise<readonly Result[]> =>
  store.write(async (tx) => {
    const resolved: Result[] = [];
    for (const { id, revision = '' } of all)
      resolved.push({ id, result: await resolveIfUnchanged(tx, verb, { id, revision }, Date.now()) });
    return resolved;
  });
