/** The figures of an annual report as fields. Pure. */
import type { NumberMetric, ReportData } from '../../protocol/report.ts';
import { isNoDate, normaliseTime } from '../../protocol/text/time.ts';
import type { AssertedValue } from './assertion.ts';
import { ofYear } from './extract-period.ts';

const FIGURES = {
  revenue: 'revenue',
  grossResult: 'grossResult',
  ebitda: 'ebitda',
  resultBeforeTax: 'resultBeforeTax',
  result: 'result',
  equity: 'equity',
  assets: 'assets',
  debt: 'debt',
  solvencyRatio: 'solvencyRatio',
  reportEmployees: 'employees',
} as const satisfies Record<string, keyof ReportData>;

type Figure = keyof typeof FIGURES;
const FIGURE_FIELDS = Object.keys(FIGURES) as readonly Figure[];

/**
 * The assertions of one annual report; none if it is not annual, or its year is unknown, because reports are ordered by
 * year. A figure that is missing or marked as an error is blank: last year's would be wrong among this year's.
 */
export function reportFields(report: ReportData): readonly AssertedValue[] {
  const year = report.reportYear ?? yearOf(report.period?.to ?? report.period?.instant ?? null);
  const period = year === null ? undefined : ofYear(year);
  const isAnnual = report.reportType === null || report.reportType.trim().toLowerCase() === 'yearly';
  if (period === undefined || !isAnnual) return [];
  return [
    { field: 'reportYear', now: year, period },
    { field: 'reportUrl', now: report.reportUrl, period },
    { field: 'reportPublished', now: utc(report.publicationTime), period },
    { field: 'reportCurrency', now: currencyOf(report), period },
    ...FIGURE_FIELDS.map((field): AssertedValue => ({ field, now: figure(report[FIGURES[field]]), period })),
  ];
}

const figure = (metric: NumberMetric | null): number | null => (metric === null || metric.error ? null : metric.value);

const utc = (time: string | null): string | null =>
  time === null || isNoDate(time) ? null : (normaliseTime(time) ?? null);

const yearOf = (time: string | null): number | null => (time === null ? null : Number(time.trim().slice(0, 4)) || null);

/** The unit of the figures if they agree, otherwise the report's only currency. */
function currencyOf(report: ReportData): string | null {
  const units = new Set(
    FIGURE_FIELDS.map((field): NumberMetric | null => report[FIGURES[field]])
      .map((metric) => metric?.unit ?? '')
      .filter((unit) => /^[A-Z]{3}$/u.test(unit) && unit !== 'CVR'),
  );
  const stated = units.size > 0 ? [...units] : report.currencies;
  return stated.length === 1 ? (stated[0] ?? null) : null;
}
