/** Times for people, by how long ago they are. */
import { largestUnit } from '../../protocol/text/largest-unit.ts';

const RELATIVE = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto', style: 'short' });

/** `3 min ago`, `in 2 hr`, `now`. */
export function ago(ms: number, now: number): string {
  const { count, unit } = largestUnit(ms - now);
  return RELATIVE.format(count, unit);
}

/** A length of time: `3 min`. */
export function lasting(ms: number): string {
  const { count, unit } = largestUnit(ms);
  return new Intl.NumberFormat('en-GB', { style: 'unit', unit, unitDisplay: 'short' }).format(count);
}
