/** Which conditions were told of, and what is to be told now: each once when it begins and once when it is over. Pure. */
import type { Condition } from './conditions.ts';

/** What is remembered of a condition. */
export interface StoredAlert {
  readonly key: string;
  readonly what: string;
  readonly since: number;
  /** When it was told; null where it was not yet. */
  readonly notifiedAt: number | null;
  /** Since when it is gone; null while it lasts. */
  readonly goneAt: number | null;
}

/** What is to be told, and what is to be remembered once it was. */
export interface AlertStep {
  readonly begun: readonly (Condition & { readonly since: number })[];
  readonly over: readonly StoredAlert[];
  /** What is remembered where the message could not be sent. */
  readonly untold: readonly StoredAlert[];
  /** What is remembered where it was sent, or where there was none. */
  readonly notified: readonly StoredAlert[];
}

/** What comes back within this time was never over: an account is only probed between two refusals. */
const CALM_MS = 15 * 60_000;

export function step(before: readonly StoredAlert[], conditions: readonly Condition[], now: number): AlertStep {
  const earlier = new Map(before.map((one) => [one.key, one]));
  const lasting = conditions.map((condition): StoredAlert => {
    const { key, what } = condition;
    const known = earlier.get(key);
    const since = Math.min(known?.since ?? now, condition.since ?? now);
    return { key, what, since, notifiedAt: known?.notifiedAt ?? null, goneAt: null };
  });
  const current = new Map(lasting.map((one) => [one.key, one]));
  const begun = conditions.flatMap((condition) => {
    const one = current.get(condition.key);
    if (one === undefined || one.notifiedAt !== null || now - one.since < (condition.afterMs ?? 0)) return [];
    return [{ ...condition, since: one.since }];
  });
  // What nobody was told of ends without a word.
  const gone = before
    .filter(({ key, notifiedAt }) => !current.has(key) && notifiedAt !== null)
    .map((one): StoredAlert => ({ ...one, goneAt: one.goneAt ?? now }));
  const over = gone.filter(({ goneAt }) => now - (goneAt ?? now) >= CALM_MS);
  const isNotified = new Set(begun.map(({ key }) => key));
  return {
    begun,
    over,
    untold: [...lasting, ...gone],
    notified: [
      ...lasting.map((one) => (isNotified.has(one.key) ? { ...one, notifiedAt: now } : one)),
      ...gone.filter((one) => !over.includes(one)),
    ],
  };
}
