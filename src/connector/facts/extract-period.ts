/**
 * Periods order figures before their registration time does; as texts they sort like the periods. An impossible period
 * is undefined: the year 20266 would stay the newest for ever.
 */

const within = (count: number, least: number, most: number): boolean =>
  Number.isInteger(count) && count >= least && count <= most;

/** Start of a period, or the time itself; undefined for another text. */
export function beginOf(period: string): number | undefined {
  const [, year, quarter, month] = /^(\d{4})(?:-(\d)|-(\d{2}))?$/u.exec(period) ?? [];
  if (year === undefined) return Date.parse(period) || undefined;
  return Date.UTC(Number(year), quarter === undefined ? Number(month ?? 1) - 1 : (Number(quarter) - 1) * 3);
}

export const ofYear = (year: number): string | undefined => (within(year, 1600, 2199) ? String(year) : undefined);

export function ofQuarter(year: number, quarter: number): string | undefined {
  const of = ofYear(year);
  return of !== undefined && within(quarter, 1, 4) ? `${of}-${quarter}` : undefined;
}

export function ofMonth(year: number, month: number): string | undefined {
  const of = ofYear(year);
  return of !== undefined && within(month, 1, 12) ? `${of}-${String(month).padStart(2, '0')}` : undefined;
}
