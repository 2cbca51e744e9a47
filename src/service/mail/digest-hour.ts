/** When daily mails go out: at an hour of the installation's time zone, in every season. */

import { clockIn, DANISH_ZONE } from '../../protocol/text/zone-clock.ts';

const HOUR_MS = 3_600_000;

/** The hour, 0 to 23, and its zone. */
export interface DigestTime {
  readonly digestHour: number;
  readonly timeZone: string;
}

/** Where no mail server is configured. */
export const USUAL_DIGEST: DigestTime = { digestHour: 7, timeZone: DANISH_ZONE };

/** The settings of a mail server, with the zone of its hour. */
export const zonedMail = <T extends { readonly digestHour: number }>(settings: {
  readonly smtp?: T;
  readonly timeZone?: string;
}) => settings.smtp && { ...settings.smtp, timeZone: settings.timeZone ?? DANISH_ZONE };

/** The first time after `now` when it is that hour. */
export function nextDigest(now: number, { digestHour, timeZone }: DigestTime): number {
  const { clockAt, instantOfClock } = clockIn(timeZone);
  const shown = clockAt(now);
  const midnight = shown - (shown % (24 * HOUR_MS));
  const today = instantOfClock(midnight + digestHour * HOUR_MS);
  return today > now ? today : instantOfClock(midnight + (24 + digestHour) * HOUR_MS);
}

/** The last time at or before `now` when it was that hour. */
export function lastDigest(now: number, at: DigestTime): number {
  let last = nextDigest(now - 50 * HOUR_MS, at);
  for (let next = nextDigest(last, at); next <= now; next = nextDigest(last, at)) last = next;
  return last;
}
