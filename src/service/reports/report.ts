import {
  each,
  NUMBER_METRICS,
  type NumberMetric,
  RARE_NUMBER_METRICS,
  RARE_TEXT_METRICS,
  type ReportData,
  TEXT_METRICS,
  type TextMetric,
} from '../../protocol/report.ts';
import { type FinancialStatement, statementOf } from './document/contexts.ts';
import type { Facts } from './document/facts.ts';
import { currenciesOf, numbersOf } from './document/figures.ts';
import { isFigure } from './document/metrics.ts';
import {
  auditorsOf,
  isText,
  REPORT_TYPE,
  REPORTING_CVR,
  REVIEW,
  REVIEW_PARTS,
  SIGNED_ON,
  SUBMITTING_CVR,
  supplementaryOf,
  TEXTS,
  textOf,
} from './document/texts.ts';
import type { Filing } from './filings.ts';

type ReportType = 'Yearly' | 'HalfYearly' | 'Quarterly' | 'Other';

export const isReported = (concept: string): boolean => isFigure(concept) || isText(concept);

/**
 * The report data of a filing. Figures come from the document with most of them, texts from the first document that has
 * them: an IFRS filer has figures in one document and a Danish document with only texts. Without documents it holds
 * what the index says. `former`: last year's report of the company, to detect thousands entered as kroner. Pure.
 */
export function reportData(documents: readonly Facts[], filing: Filing, former?: ReportData): ReportData {
  const statements = documents.map((facts) => statementOf(facts, filing.period, isFigure));
  const statement = statements.reduce<FinancialStatement | undefined>(
    (most, one) => (one.size > (most?.size ?? -1) ? one : most),
    undefined,
  );
  const currencies = statement === undefined ? [] : currenciesOf(statement);
  const numbers = statement === undefined ? {} : numbersOf(statement, currencies[0] ?? null, former);
  const text = (...concepts: readonly string[]): TextMetric | null => {
    const value = textOf(documents, concepts);
    return value === undefined ? null : textMetric(value);
  };
  const period = statement === undefined || statement.period.end === '' ? filing.period : statement.period;
  const isAnother = isAnotherCompany(documents, filing);
  const number = (name: keyof typeof numbers): NumberMetric | null => {
    const metric = numbers[name];
    return metric === undefined ? null : isAnother ? { ...metric, possibleError: true } : metric;
  };
  return {
    ...each(NUMBER_METRICS, number),
    ...each(RARE_NUMBER_METRICS, number),
    ...each(TEXT_METRICS, (name) => text(...TEXTS[name])),
    ...each(RARE_TEXT_METRICS, () => null),
    descriptionOfQualifications: text(...TEXTS.descriptionOfQualifications),
    goingConcern: text(...TEXTS.goingConcern),
    typeOfBasisForModifiedOpinion: text(...TEXTS.typeOfBasisForModifiedOpinion),
    managementsReview: reviewOf(documents),
    submittingCompanyCVR: submitter(documents),
    auditorSignatureDate: signature(documents),
    supplementaryInformation: supplementaryOf(documents).map(textMetric),
    auditors: auditorsOf(documents).map((one) => ({ ...one, companyCVR: cvrIn(one.companyCVR) })),
    cvr: filing.cvr,
    reportType: reportTypeOf(documents, filing, period ?? undefined),
    period: period === undefined ? null : { from: midnight(period.start), to: midnight(period.end), instant: null },
    publicationTime: filing.publishedAt,
    reportUrl: filing.reportUrl,
    xbrlUrl: filing.xbrlUrl,
    reportYear: period === undefined ? null : Number(period.end.slice(0, 4)),
    currencies: [...currencies],
  };
}

const textMetric = (value: string): TextMetric => ({
  unit: null,
  value,
  calculation: null,
  sources: [],
  possibleError: false,
  error: false,
});

const midnight = (day: string | null): string | null => (day === null ? null : `${day}T00:00:00`);

/** Whether the document names another company: all its figures are then doubtful. */
function isAnotherCompany(documents: readonly Facts[], filing: Filing): boolean {
  const cvr = cvrIn(textOf(documents, [REPORTING_CVR]) ?? null);
  return cvr !== null && cvr !== filing.cvr;
}

const cvrIn = (text: string | null): number | null => {
  const digits = text?.replace(/^\s*DK|[\s.-]/gi, '') ?? '';
  return /^\d{8}$/.test(digits) ? Number(digits) : null;
};

function submitter(documents: readonly Facts[]): NumberMetric | null {
  const value = cvrIn(textOf(documents, [SUBMITTING_CVR]) ?? null);
  return value === null ? null : { ...textMetric(''), unit: 'CVR', value, sources: [SUBMITTING_CVR] };
}

function signature(documents: readonly Facts[]): TextMetric | null {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(textOf(documents, [SIGNED_ON]) ?? '')?.[0];
  return day === undefined || Number.isNaN(Date.parse(day)) ? null : textMetric(`${day}T00:00:00`);
}

function reviewOf(documents: readonly Facts[]): TextMetric | null {
  const parts = REVIEW_PARTS.flatMap((concept) => textOf(documents, [concept]) ?? []);
  const value = textOf(documents, [REVIEW]) ?? parts.join('\n\n');
  return value === '' ? null : textMetric(value);
}

const TYPES: readonly (readonly [RegExp, ReportType])[] = [
  [/halv|half/i, 'HalfYearly'],
  [/kvartal|quarter/i, 'Quarterly'],
  // The agency counts liquidation accounts as annual reports.
  [/^årsrapport|^aarsrapport|^annual|^koncernregnskab|^likvidationsregnskab|^liquidation/i, 'Yearly'],
];

/** The type in the document, else in the index; of an interim report, by its length. */
function reportTypeOf(documents: readonly Facts[], filing: Filing, period: Filing['period']): ReportType {
  const stated = textOf(documents, [REPORT_TYPE]);
  const known = stated === undefined ? undefined : TYPES.find(([pattern]) => pattern.test(stated))?.[1];
  if (known !== undefined) return known;
  if (filing.isAnnual && documents.length === 0) return 'Yearly';
  const days = (Date.parse(period?.end ?? '') - Date.parse(period?.start ?? '')) / 86_400_000;
  if (days > 80 && days < 100) return 'Quarterly';
  if (days > 170 && days < 190) return 'HalfYearly';
  return filing.isAnnual && stated === undefined ? 'Yearly' : 'Other';
}
