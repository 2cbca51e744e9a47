/** Waiting for what a CRM shows late, and for a CRM that takes no more calls now. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isProviderError } from './insist.ts';

/** Between two looks at what a CRM may show late. */
export const LOOK_MS = 40;
const MOST_WAIT_MS = 2_000;
const TRIES = 5;

/** Asks, and once more where the CRM says that it was asked too often: the runtime paces calls, the suite does not. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1)
    try {
      return await ask();
    } catch (error) {
      if (tried === TRIES || !isProviderError(error) || error.fault !== 'rate') throw error;
      await sleep(Math.min(error.retryAfterMs ?? MOST_WAIT_MS, MOST_WAIT_MS));
    }
}

/** Asks again until the result is as expected, or the patience ends. */
export async function until<T>(forMs: number, ask: () => Promise<T>, isWell: (value: T) => boolean): Promise<T> {
  const end = Date.now() + forMs;
  let value = await ask();
  while (Date.now() < end && !isWell(value)) {
    await sleep(LOOK_MS);
    value = await ask();
  }
  return value;
}
