/** Times for people, by how long ago they are, and for programs, in ISO 8601. */
import { largestUnit } from '../../protocol/text/largest-unit.ts';

const RELATIVE = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto', style: 'short' });

/** `3 min ago`, `in 2 hr`, `now`. */
export function ago(ms: number, now: number): string {
  const { count, unit } = largestUnit(ms - now);
  return RELATIVE.format(count, unit);
}

/** A time for people, in UTC; empty for null. */
export const shownTime = (ms: number | null): string =>
  ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;

/** A length of time: `3 min`. */
export function lasting(ms: number): string {
  const { count, unit } = largestUnit(ms);
  return new Intl.NumberFormat('en-GB', { style: 'unit', unit, unitDisplay: 'short' }).format(count);
}

export const timeCell = (ms: number | null | undefined): Date | null => (typeof ms === 'number' ? new Date(ms) : null);

/** Names of times in documents: `at`, `since`, `createdAt`, `due_at`. */
const TIME_NAME = /^(?:at|since|until|seen)$|(?:At|Since|Until)$|_(?:at|since|until)$/u;
/** 2000 to 2100: numbers outside are not times. */
const [FIRST_MS, END_MS] = [946_684_800_000, 4_102_444_800_000];

/** A number that is a time by its name and its size, in ISO 8601; else the value itself. */
export const isoTimeIn = (name: string, value: unknown): unknown =>
  typeof value === 'number' && value >= FIRST_MS && value < END_MS && TIME_NAME.test(name)
    ? new Date(value).toISOString()
    : value;
