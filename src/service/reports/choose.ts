import type { ReportData } from '../../protocol/report.ts';
import type { Filing } from './filings.ts';

export interface KnownFiling {
  readonly id: string;
  readonly period_start: string | null;
  readonly period_end: string | null;
  readonly published_at: string;
  /** Whether cvrsync read it as an annual report. */
  readonly isAnnual: boolean;
}

/**
 * Whether a filing is news: the annual report of its year and the newest one. Interim reports are filed under the
 * same name: of the filings whose periods begin on one day, the longest is the annual report. A re-filing for the
 * same period is news if it is the later one. A report is not news if one of a later year is known, because receivers
 * would take it for the newest. Pure.
 */
export function isNews(filing: Filing, data: ReportData, known: readonly KnownFiling[]): boolean {
  if (data.reportType !== 'Yearly') return false;
  const start = data.period?.from?.slice(0, 10) ?? null;
  const end = data.period?.to?.slice(0, 10) ?? null;
  if (end === null) return true;
  return !known.some(({ id, period_start, period_end, published_at, isAnnual }) => {
    const isSameYear = start !== null && period_start === start;
    // A year that ends after the publication is a typing error.
    const isAnotherYear = isAnnual && period_end !== null && period_end <= published_at;
    if (id === filing.id || period_end === null || !(isSameYear || isAnotherYear)) return false;
    return period_end > end || (period_end === end && published_at > filing.publishedAt);
  });
}

/** The most between two years: a company that changes its financial year may leave a gap of some days. */
const GAP_MS = 32 * 86_400_000;

/** The company's report of the year before a period; of several, the latest publication. */
export function formerOf<K extends KnownFiling>(start: string | null, known: readonly K[]): K | undefined {
  if (start === null) return undefined;
  return known
    .filter(({ period_end: end }) => end !== null && end < start && Date.parse(start) - Date.parse(end) <= GAP_MS)
    .sort((a, b) => order(b) - order(a) || (b.published_at > a.published_at ? 1 : -1))[0];
}

const order = ({ period_end }: KnownFiling): number => Date.parse(period_end ?? '') || 0;
