/**
 * The periods that order figures before their time of registration does: texts that compare as the periods do.
 *
 * An impossible one is undefined: the year 20266 would be the newest for ever, and no later figure could replace it.
 */

const within = (count: number, least: number, most: number): boolean =>
  Number.isInteger(count) && count >= least && count <= most;

/** `2026` */
export const ofYear = (year: number): string | undefined => (within(year, 1600, 2199) ? String(year) : undefined);

/** `2026-3` */
export function ofQuarter(year: number, quarter: number): string | undefined {
  const of = ofYear(year);
  return of !== undefined && within(quarter, 1, 4) ? `${of}-${quarter}` : undefined;
}

/** `2026-08` */
export function ofMonth(year: number, month: number): string | undefined {
  const of = ofYear(year);
  return of !== undefined && within(month, 1, 12) ? `${of}-${String(month).padStart(2, '0')}` : undefined;
}
