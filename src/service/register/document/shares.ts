/** Shares of owners in the wire's format. The register has fractions: `0.3333` is a third. */
import { decimal } from './fields.ts';

/** The register's bands in percent: it states the lower bound of an owner's band. */
const BOUNDS: readonly number[] = [0, 5, 10, 15, 20, 25, 33.33, 50, 66.67, 90, 100];

/** A fraction as a rounded percentage; null unless it is from 0 to 1. */
const percentOf = (value: unknown): number | null => {
  const fraction = decimal(value);
  return fraction === null || fraction < 0 || fraction > 1 ? null : Number((fraction * 100).toFixed(6));
};

/** The band of a legal owner: `0.1` is `10-15`, `1.0` is `100`, an owner under 5 % (`0.0`) is `0-5`. */
export const shareInterval = (value: unknown): string | null => {
  const percent = percentOf(value);
  if (percent === null) return null;
  const at = BOUNDS.findLastIndex((bound) => bound <= percent);
  const upper = BOUNDS[at + 1];
  return upper === undefined ? '100' : `${BOUNDS[at]}-${upper}`;
};

/** The exact percentage of a beneficial owner: `0.3333` is `33.33`. */
export const precisePercentage = (value: unknown): string | null => {
  const percent = percentOf(value);
  return percent === null ? null : String(percent);
};
