/** Writes an instant as the register does: Danish local time with its offset, to the millisecond. */
import { normaliseTime } from '../../../../protocol/text/time.ts';

const HOUR_MS = 3_600_000;

/** Both changes of the clock in a year, ms: the last Sundays of March and October, at 01:00 UTC. */
const summers = new Map<number, readonly [number, number]>();

const lastSunday = (year: number, month: number): number => {
  const last = new Date(Date.UTC(year, month + 1, 0, 1));
  return last.getTime() - last.getUTCDay() * 24 * HOUR_MS;
};

function summerOf(year: number): readonly [number, number] {
  const known = summers.get(year);
  if (known !== undefined) return known;
  const summer = [lastSunday(year, 2), lastSunday(year, 9)] as const;
  summers.set(year, summer);
  return summer;
}

/** The rows of a unit share one time, and most units come with their rows together. */
let last: { readonly stated: string; readonly time: string } | undefined;

/** Null if the text is no time. Denmark has had today's rule since 1996. */
export function registerTime(stated: unknown): string | null {
  if (typeof stated !== 'string') return null;
  if (last?.stated === stated) return last.time;
  const instant = normaliseTime(stated);
  if (instant === undefined) return null;
  const ms = Date.parse(instant);
  const [from, to] = summerOf(Number(instant.slice(0, 4)));
  const hours = ms >= from && ms < to ? 2 : 1;
  const time = `${new Date(ms + hours * HOUR_MS).toISOString().slice(0, -1)}+0${hours}:00`;
  last = { stated, time };
  return time;
}
