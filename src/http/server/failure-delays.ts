/** Slows down guessing: an address that keeps failing authentication waits longer for each answer. */
import { clientOf } from './networks.ts';

/** Failures without a delay: people mistype secrets and configure clients. */
const FREE = 20;
const STEP_MS = 10;
const MOST_MS = 10_000;
/** Half of an address's failures are forgotten in this time. */
const HALF_LIFE_MS = 60_000;
const MOST_ADDRESSES = 10_000;

interface Failures {
  readonly count: number;
  readonly at: number;
}

/**
 * Counts a failure of an address and returns the ms that its answer waits. Only failed requests wait, so a stranger
 * behind the same proxy locks no one out.
 */
export function createFailureDelays(now: () => number): (address: string) => number {
  const known = new Map<string, Failures>();
  return (address) => {
    const key = clientOf(address);
    const at = now();
    const before = known.get(key) ?? { count: 0, at };
    const count = before.count * 0.5 ** (Math.max(0, at - before.at) / HALF_LIFE_MS) + 1;
    // Most recent last.
    known.delete(key);
    known.set(key, { count, at });
    const oldest = known.size > MOST_ADDRESSES ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    return Math.min(MOST_MS, STEP_MS * Math.max(0, Math.round(count) - FREE) ** 2);
  };
}
