/**
 * The periods that order figures before their time of registration does: texts that compare as the periods do.
 *
 * An impossible one is undefined: the year 20266 would be the newest for ever, and no later figure could replace it.
 */

const within = (count: number, least: number, most: number): boolean =>
  Number.isInteger(count) && count >= least && count <= most;

/** When such a period, or a time in its place, begins in ms since 1970; undefined for another text. */
export function beginOf(period: string): number | undefined {
  const [, year, quarter, month] = /^(\d{4})(?:-(\d)|-(\d{2}))?$/u.exec(period) ?? [];
  if (year === undefined) return Date.parse(period) || undefined;
  return Date.UTC(Number(year), quarter === undefined ? Number(month ?? 1) - 1 : (Number(quarter) - 1) * 3);
}

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
