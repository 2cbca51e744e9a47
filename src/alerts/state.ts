/** Which conditions were told of, and what is to be told now: each once when it begins and once when it is over. Pure. */
import type { Condition } from './conditions.ts';

/** What is remembered of a condition. */
export interface Remembered {
  readonly key: string;
  readonly what: string;
  readonly since: number;
  /** When it was told; null where it was not yet. */
  readonly toldAt: number | null;
  /** Since when it is gone; null while it lasts. */
  readonly goneAt: number | null;
}

/** What is to be told, and what is to be remembered once it was. */
export interface Step {
  readonly begun: readonly (Condition & { readonly since: number })[];
  readonly over: readonly Remembered[];
  /** What is remembered where the message could not be sent. */
  readonly untold: readonly Remembered[];
  /** What is remembered where it was sent, or where there was none. */
  readonly told: readonly Remembered[];
}

/** What comes back within this time was never over: an account is only probed between two refusals. */
export const CALM_MS = 15 * 60_000;

export function step(before: readonly Remembered[], conditions: readonly Condition[], now: number): Step {
  const earlier = new Map(before.map((one) => [one.key, one]));
  const lasting = conditions.map((condition): Remembered => {
    const { key, what } = condition;
    const known = earlier.get(key);
    const since = Math.min(known?.since ?? now, condition.since ?? now);
    return { key, what, since, toldAt: known?.toldAt ?? null, goneAt: null };
  });
  const current = new Map(lasting.map((one) => [one.key, one]));
  const begun = conditions.flatMap((condition) => {
    const one = current.get(condition.key);
    if (one === undefined || one.toldAt !== null || now - one.since < (condition.afterMs ?? 0)) return [];
    return [{ ...condition, since: one.since }];
  });
  // What nobody was told of ends without a word.
  const gone = before
    .filter(({ key, toldAt }) => !current.has(key) && toldAt !== null)
    .map((one): Remembered => ({ ...one, goneAt: one.goneAt ?? now }));
  const over = gone.filter(({ goneAt }) => now - (goneAt ?? now) >= CALM_MS);
  const isTold = new Set(begun.map(({ key }) => key));
  return {
    begun,
    over,
    untold: [...lasting, ...gone],
    told: [
      ...lasting.map((one) => (isTold.has(one.key) ? { ...one, toldAt: now } : one)),
      ...gone.filter((one) => !over.includes(one)),
    ],
  };
}
