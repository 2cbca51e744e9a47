/** Days in Copenhagen, which the register's periods use. */

const CLOCK = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Copenhagen',
  dateStyle: 'short',
  timeStyle: 'medium',
});
const HOUR_MS = 3_600_000;

export const todayAt = (now: number): string => CLOCK.format(now).slice(0, 10);

/** When a day begins in Copenhagen, ms since 1970. Clocks there never change at midnight. */
export function startOf(day: string): number {
  const summer = Date.parse(`${day}T00:00:00Z`) - 2 * HOUR_MS;
  return CLOCK.format(summer) === `${day} 00:00:00` ? summer : summer + HOUR_MS;
}
