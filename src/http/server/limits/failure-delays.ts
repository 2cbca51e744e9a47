/** Makes guessing slow: answers to an address that keeps failing to prove itself wait longer and longer. */
import { clientOf } from '../networks.ts';

/** Failures of an address that have no effect: secrets get mistyped, and clients get configured. */
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
 * Counts failures by address. Returns for each the ms its answer should wait, 0 for the first ones: only who fails waits,
 * so that whoever shares an address with a stranger, as all do behind a proxy, is not shut out.
 */
export function createFailureDelays(now: () => number): (address: string) => number {
  const known = new Map<string, Failures>();
  return (address) => {
    const key = clientOf(address);
    const at = now();
    const before = known.get(key) ?? { count: 0, at };
    const count = before.count * 0.5 ** (Math.max(0, at - before.at) / HALF_LIFE_MS) + 1;
    // The most recent at the end, the oldest at the front.
    known.delete(key);
    known.set(key, { count, at });
    const oldest = known.size > MOST_ADDRESSES ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    return Math.min(MOST_MS, STEP_MS * Math.max(0, Math.round(count) - FREE) ** 2);
  };
}
