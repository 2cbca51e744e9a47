const DAY_MS = 86_400_000;

/**
 * The ms from `now` until the next midnight in an IANA time zone. Right over a change of daylight saving time, when a
 * day has 23 or 25 hours. Throws RangeError for an unknown zone.
 */
export function untilMidnight(now: number, timeZone: string): number {
  const dateOf = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const today = dateOf.format(now);
  let same = now;
  let later = now + DAY_MS + 2 * 3_600_000;
  while (later - same > 1) {
    const middle = Math.floor((same + later) / 2);
    if (dateOf.format(middle) === today) same = middle;
    else later = middle;
  }
  return later - now;
}
