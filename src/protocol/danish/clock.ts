/** Clocks in Copenhagen, whatever the season. */

const HOUR_MS = 3_600_000;
const CLOCK = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Copenhagen',
  dateStyle: 'short',
  timeStyle: 'medium',
});

/** What clocks in Copenhagen show at an instant, as if it were UTC; ms since 1970. */
export const clockAt = (instant: number): number => Date.parse(`${CLOCK.format(instant).replace(' ', 'T')}Z`);

/** When clocks in Copenhagen first show a time; where they skip it in spring, when they skip. The reverse of {@link clockAt}. */
export const instantOfClock = (shown: number): number => {
  // An hour that comes twice in autumn: summer time comes first.
  const summer = shown - 2 * HOUR_MS;
  return clockAt(summer) === shown ? summer : shown - HOUR_MS;
};
