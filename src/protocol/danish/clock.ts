/** Clock time in Copenhagen, in every season. */

const HOUR_MS = 3_600_000;
const CLOCK = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Copenhagen',
  dateStyle: 'short',
  timeStyle: 'medium',
});

/** The clock time at an instant, as if it were UTC. */
export const clockAt = (instant: number): number => Date.parse(`${CLOCK.format(instant).replace(' ', 'T')}Z`);

/**
 * The reverse of {@link clockAt}: when clocks first show a time. A time that the spring change skips gives the instant
 * of the change.
 */
export const instantOfClock = (shown: number): number => {
  // For an hour that occurs twice in autumn, summer time comes first.
  const summer = shown - 2 * HOUR_MS;
  return clockAt(summer) === shown ? summer : shown - HOUR_MS;
};

/** An instant as the register writes it: clock time with its offset, to the millisecond. */
export function registerTime(instant: number): string {
  const shown = clockAt(instant);
  const past = new Date(instant).getUTCMilliseconds();
  const hours = Math.round((shown + past - instant) / HOUR_MS);
  return `${new Date(shown + past).toISOString().slice(0, -1)}+0${hours}:00`;
}
