/** Decides which conditions to report: each once when it begins and once when it ends. Pure. */
import type { Condition } from './conditions.ts';

export interface StoredAlert {
  readonly key: string;
  readonly what: string;
  readonly since: number;
  readonly notifiedAt: number | null;
  readonly goneAt: number | null;
}

export interface AlertStep {
  readonly begun: readonly (Condition & { readonly since: number })[];
  readonly over: readonly StoredAlert[];
  /** The state if sending fails. */
  readonly unsent: readonly StoredAlert[];
  /** The state if sending succeeds, or if there is nothing to send. */
  readonly sent: readonly StoredAlert[];
}

/** A condition that returns within this time counts as lasting: cvrsync only probes an account between two refusals. */
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
  // A condition that was never reported ends silently.
  const gone = before
    .filter(({ key, notifiedAt }) => !current.has(key) && notifiedAt !== null)
    .map((one): StoredAlert => ({ ...one, goneAt: one.goneAt ?? now }));
  const over = gone.filter(({ goneAt }) => now - (goneAt ?? now) >= CALM_MS);
  const isNotified = new Set(begun.map(({ key }) => key));
  return {
    begun,
    over,
    unsent: [...lasting, ...gone],
    sent: [
      ...lasting.map((one) => (isNotified.has(one.key) ? { ...one, notifiedAt: now } : one)),
      ...gone.filter((one) => !over.includes(one)),
    ],
  };
}
