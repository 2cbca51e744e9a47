/** When daily mails go out: an hour in Copenhagen, whatever the season. */

const HOUR_MS = 3_600_000;
const CLOCK = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Copenhagen',
  dateStyle: 'short',
  timeStyle: 'medium',
});

/** What clocks in Copenhagen show, as if it were UTC; ms since 1970. */
const shownAt = (instant: number): number => Date.parse(`${CLOCK.format(instant).replace(' ', 'T')}Z`);

/** When clocks in Copenhagen first show a time; where they skip it in spring, when they skip. */
const instantOf = (shown: number): number => {
  // An hour that comes twice in autumn: summer time comes first.
  const summer = shown - 2 * HOUR_MS;
  return shownAt(summer) === shown ? summer : shown - HOUR_MS;
};

/** The first time after `now` (ms since 1970) when it strikes `hour` (0 to 23) in Copenhagen. */
export function nextDigest(now: number, hour: number): number {
  const shown = shownAt(now);
  const midnight = shown - (shown % (24 * HOUR_MS));
  const today = instantOf(midnight + hour * HOUR_MS);
  return today > now ? today : instantOf(midnight + (24 + hour) * HOUR_MS);
}

/** The last time at or before `now` when it struck `hour` in Copenhagen. */
export function lastDigest(now: number, hour: number): number {
  let last = nextDigest(now - 50 * HOUR_MS, hour);
  for (let next = nextDigest(last, hour); next <= now; next = nextDigest(last, hour)) last = next;
  return last;
}
