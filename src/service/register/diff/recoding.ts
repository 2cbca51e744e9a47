/**
 * Detects the register's recodings. When the register moves to another classification (DB07 to DB25 in 2025), every
 * company gets a new industry code on one day, and no field says so.
 */
import type { IndustryChange } from './differ.ts';
import { isRecoding } from './is-recoding.ts';

export interface RecodingGuard {
  /** Begins a page: counts the industry changes of its companies, one list for each document. */
  readonly page: (documents: readonly (readonly IndustryChange[])[]) => void;
  readonly isRecoded: (change: IndustryChange) => boolean;
  readonly counts: () => Readonly<Record<string, number>>;
}

// A day's counts matter only during its recoding, so only the newest days are kept.
const KEPT = 2_000;

const pairOf = ({ from, before, after }: IndustryChange): string => `${from} ${before} ${after}`;

/** Continues from earlier counts. A disabled guard finds no recoding. */
export const createRecodingGuard = (
  options: { readonly enabled?: boolean; readonly counts?: Readonly<Record<string, number>> } = {},
): RecodingGuard => {
  const { enabled = true, counts = {} } = options;
  const pairs = new Map(Object.entries(counts));
  let days = new Map<string, number>();
  let documents = 0;
  const count = (to: Map<string, number>, keys: readonly string[]): void => {
    for (const key of new Set(keys)) to.set(key, (to.get(key) ?? 0) + 1);
  };
  return {
    page(changes) {
      days = new Map();
      documents = changes.length;
      for (const all of changes) {
        const dated = all.filter(({ before, after, from }) => from !== null && before !== after);
        count(
          days,
          dated.flatMap(({ from }) => from ?? []),
        );
        count(pairs, dated.map(pairOf));
      }
      if (pairs.size <= KEPT * 2) return;
      for (const stale of [...pairs.keys()].sort().slice(0, -KEPT)) pairs.delete(stale);
    },
    isRecoded(change) {
      if (!enabled) return false;
      const sameDay = change.from === null ? 0 : (days.get(change.from) ?? 0);
      const seen = { samePair: pairs.get(pairOf(change)) ?? 0, sameDay, documents };
      return isRecoding(seen, change);
    },
    counts: () => Object.fromEntries(pairs),
  };
};
