/** Applies an operator's answer to what waits in review: to entries by their ids, or to all of some kinds. */
import {
  countDifferences,
  type Difference,
  type DifferenceFilter,
  readDifferences,
} from '../../connector/history/differences.ts';
import { differenceEntry, readAttention } from '../../connector/review/attention.ts';
import type { Attention, ReviewVerb } from '../../connector/review/attention-kinds.ts';
import { type Resolved, resolveSeen } from '../../connector/review/resolve-attention.ts';
import type { Store } from '../../store/open.ts';

/** What is answered: these entries, or all of these kinds. */
export type Choice =
  | { readonly ids: readonly string[] }
  | { readonly kinds: readonly Attention['kind'][] | undefined; readonly filter: DifferenceFilter };

/** An entry, and what tells whether it is still what was seen; nothing where a person named it by its id. */
type Seen = Pick<Attention, 'id' | 'sight'>;

export interface Result {
  readonly id: string;
  readonly result: Resolved | { readonly kind: 'changed' };
}

/** What became of the entries. A million of them are counted, not kept. */
export interface Answered {
  readonly count: number;
  /** How many ended with the same note. */
  readonly notes: ReadonlyMap<string, number>;
  /** Every result where they were asked for; else those that failed. */
  readonly results: readonly Result[];
  /** Ids that wait for a decision, which a retry or a drop of all does not make. */
  readonly leftOut: readonly string[];
}

export interface AnswerOptions {
  readonly verb: ReviewVerb;
  /** Asked before all of a kind are answered, with their number. */
  readonly mayTake: (count: number) => Promise<boolean> | boolean;
  readonly keepResults: boolean;
}

/** Resolved in one transaction: long enough to be quick, short enough not to hold up the daemon. */
const CHUNK = 200;

export const hasFailed = ({ result }: Result): boolean => result.kind !== 'done';

/** Answers what was chosen; undefined where the operator does not want it. */
export async function answerReview(
  store: Store,
  choice: Choice,
  options: AnswerOptions,
): Promise<Answered | undefined> {
  if ('ids' in choice) {
    const named = choice.ids.map((id) => ({ id }));
    return tallied(answerEach(store, options.verb, named), { ...options, keepResults: true });
  }
  const { kinds, filter } = choice;
  if (kinds?.includes('difference')) {
    const askedAt = Date.now();
    const isMeant = await options.mayTake(await countDifferences(store.db, askedAt, filter));
    return isMeant ? tallied(answerDifferences(store, options.verb, { ...filter, askedAt }), options) : undefined;
  }
  const found = await readAttention(store.db, Date.now(), { kinds });
  const taking = found.filter(({ verbs }) => verbs.includes(options.verb));
  if (!(await options.mayTake(taking.length))) return undefined;
  // Who tries all again after an outage has not decided anything.
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

async function* answerEach(store: Store, verb: ReviewVerb, all: readonly Seen[]): AsyncGenerator<readonly Result[]> {
  for (let start = 0; start < all.length; start += CHUNK)
    yield resolveAll(store, verb, all.slice(start, start + CHUNK));
}

/** One that came after `askedAt`, or that another settled meanwhile, is left out. */
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
    for (const { id, sight = '' } of all)
      resolved.push({ id, result: await resolveSeen(tx, verb, { id, sight }, Date.now()) });
    return resolved;
  });
