/** The main figures of an annual report. */

import type { NumberMetric, ReportData } from '../report.ts';
import { dateText, moneyText, numberText } from './danish.ts';

interface ReportLine {
  readonly label: string;
  readonly before: null;
  readonly after: string;
  readonly link?: string;
}

const FIGURES: readonly (readonly [label: string, metric: (data: ReportData) => NumberMetric | null])[] = [
  ['Nettoomsætning', ({ revenue }) => revenue],
  ['Bruttofortjeneste', ({ grossResult }) => grossResult],
  ['Årets resultat', ({ result }) => result],
  ['Egenkapital', ({ equity }) => equity],
  ['Balancesum', ({ assets }) => assets],
  ['Ansatte', ({ employees }) => employees],
];

const TYPES: Readonly<Record<string, string>> = {
  yearly: 'Årsrapport',
  halfyearly: 'Halvårsrapport',
  quarterly: 'Kvartalsrapport',
};

/** Period and main figures, with a link to the report. Leaves out what is not stated. */
export function describeReport(data: ReportData): readonly ReportLine[] {
  const { reportType, reportUrl, reportYear, period } = data;
  const isLink = reportUrl !== null && /^https?:\/\//i.test(reportUrl);
  const { from = null, to = null } = period ?? {};
  const span =
    from !== null && to !== null ? `${dateText(from)} til ${dateText(to)}` : reportYear === null ? '' : `${reportYear}`;
  const label = TYPES[reportType?.toLowerCase() ?? ''] ?? 'Regnskab';
  const figures = FIGURES.flatMap(([name, metric]) => {
    const figure = figureText(metric(data));
    return figure === undefined ? [] : [{ label: name, before: null, after: figure }];
  });
  return [{ label, before: null, after: span || 'Offentliggjort', ...(isLink && { link: reportUrl }) }, ...figures];
}

function figureText(metric: NumberMetric | null): string | undefined {
  if (metric === null || metric.value === null || metric.error) return undefined;
  const { unit, value, possibleError } = metric;
  const isMoney = unit !== null && /^[A-Z]{3}$/.test(unit) && unit !== 'CVR';
  const text = isMoney ? moneyText(value, unit) : numberText(value);
  return possibleError ? `${text} (usikkert tal)` : text;
}
