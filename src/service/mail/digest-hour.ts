/** When daily mails go out: at an hour in Copenhagen, in every season. */

import { clockAt, instantOfClock } from '../../protocol/danish/clock.ts';

const HOUR_MS = 3_600_000;

/** The first time after `now` when it is `hour` (0 to 23) in Copenhagen. */
export function nextDigest(now: number, hour: number): number {
  const shown = clockAt(now);
  const midnight = shown - (shown % (24 * HOUR_MS));
  const today = instantOfClock(midnight + hour * HOUR_MS);
  return today > now ? today : instantOfClock(midnight + (24 + hour) * HOUR_MS);
}

/** The last time at or before `now` when it was `hour` in Copenhagen. */
export function lastDigest(now: number, hour: number): number {
  let last = nextDigest(now - 50 * HOUR_MS, hour);
  for (let next = nextDigest(last, hour); next <= now; next = nextDigest(last, hour)) last = next;
  return last;
}
