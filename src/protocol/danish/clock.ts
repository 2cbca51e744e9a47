/** Clock time in Copenhagen, in which the register counts its days. */
import { clockIn, DANISH_ZONE } from '../text/zone-clock.ts';

const HOUR_MS = 3_600_000;

export const { clockAt, instantOfClock } = clockIn(DANISH_ZONE);

/** An instant as the register writes it: clock time with its offset, to the millisecond. */
export function registerTime(instant: number): string {
  const shown = clockAt(instant);
  const past = new Date(instant).getUTCMilliseconds();
  const hours = Math.round((shown + past - instant) / HOUR_MS);
  return `${new Date(shown + past).toISOString().slice(0, -1)}+0${hours}:00`;
}
