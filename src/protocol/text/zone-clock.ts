/** Clock time in a time zone, in every season. */

export interface ZoneClock {
  /** The clock time at an instant, as if it were UTC. */
  clockAt(instant: number): number;
  /**
   * The reverse of `clockAt`: when clocks first show a time. A time that a change of the clocks skips counts by the
   * offset before the change.
   */
  instantOfClock(shown: number): number;
}

/** The zone of the register's days, and of pages and mails unless the configuration names another one. */
export const DANISH_ZONE = 'Europe/Copenhagen';

/** Whether this is a time zone by its name in the IANA database. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

const DAY_MS = 86_400_000;
const CLOCKS = new Map<string, ZoneClock>();

/** The clock of a zone. Making one takes longer than reading it, so each is made once. */
export function clockIn(zone: string): ZoneClock {
  const clock = CLOCKS.get(zone) ?? makeClock(zone);
  CLOCKS.set(zone, clock);
  return clock;
}

function makeClock(timeZone: string): ZoneClock {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const clockAt = (instant: number): number => Date.parse(`${format.format(instant).replace(' ', 'T')}Z`);
  return {
    clockAt,
    instantOfClock(shown) {
      const offset = (near: number): number => clockAt(near) - near;
      // Of an hour that occurs twice, this is the first.
      const before = shown - offset(shown - DAY_MS);
      if (clockAt(before) === shown) return before;
      const after = shown - offset(shown + DAY_MS);
      return clockAt(after) === shown ? after : before;
    },
  };
}
