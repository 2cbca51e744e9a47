/** Waits for changes that a CRM shows late, and for a CRM that limits the rate. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isProviderError } from './insist.ts';

/** The pause between two attempts to see such a change. */
export const LOOK_MS = 40;
const MOST_WAIT_MS = 2_000;
const TRIES = 5;

/** Calls, and calls once more after a rate fault: the runtime limits the rate, the suite does not. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1)
    try {
      return await ask();
    } catch (error) {
      if (tried === TRIES || !isProviderError(error) || error.fault !== 'rate') throw error;
      await sleep(Math.min(error.retryAfterMs ?? MOST_WAIT_MS, MOST_WAIT_MS));
    }
}

/** Calls again until the result is as expected, or the time is up. */
export async function until<T>(forMs: number, ask: () => Promise<T>, isWell: (value: T) => boolean): Promise<T> {
  const end = Date.now() + forMs;
  let value = await ask();
  while (Date.now() < end && !isWell(value)) {
    await sleep(LOOK_MS);
    value = await ask();
  }
  return value;
}
