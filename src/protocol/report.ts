/**
 * Report data (specification, "Report data"): the figures of an annual report. The specification does not show all
 * metrics with a value. A metric of another shape reads as null, so that one unexpected value does not make the report
 * unreadable.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { lenient, nullable, time } from './formats.ts';

export const NUMBER_METRICS = [
  'assets',
  'capital',
  'cashHoldings',
  'coverage',
  'currentAssets',
  'debt',
  'deferredTaxAssets',
  'depreciations',
  'ebitda',
  'employeeExpenses',
  'employees',
  'equity',
  'equityExcludingDividend',
  'equityReturn',
  'externalExpenses',
  'financialFixedAssets',
  'grossResult',
  'intangibleFixedAssets',
  'liabilitiesAndEquity',
  'liquidityRatio',
  'longtermLiabilities',
  'nonCurrentAssets',
  'operatingMargin',
  'otherFinanceExpenses',
  'otherFinanceIncome',
  'pensions',
  'profitFromOrdinaryOperatingActivities',
  'result',
  'resultBeforeTax',
  'revenue',
  'roi',
  'salaries',
  'shorttermInvestments',
  'shorttermLiabilities',
  'shorttermReceivables',
  'shorttermTradeReceivables',
  'shorttermTradePayables',
  'socialSecurityExpenses',
  'solvencyRatio',
  'solvencyRatioExcludingDividend',
  'submittingCompanyCVR',
  'tangibleFixedAssets',
  'taxExpense',
] as const;

/** Probably numbers: the specification shows no values. */
export const RARE_NUMBER_METRICS = [
  'administrativeExpenses',
  'dividend',
  'equityLoan',
  'inventories',
  'landAndBuildings',
  'longtermInvestmentsInAssociates',
  'longtermInvestmentsInGroupEnterprises',
  'longtermPayablesToGroupEnterprises',
  'longtermReceivablesFromGroupEnterprises',
  'propertyCost',
  'provisions',
  'shorttermPayablesToGroupEnterprises',
  'shorttermTaxPayablesToGroupEnterprises',
  'shorttermReceivablesFromGroupEnterprises',
  'shorttermTaxReceivablesFromGroupEnterprises',
  'shorttermReceivablesFromOwnersAndManagement',
  'bankCVR',
] as const;

export const TEXT_METRICS = [
  'classOfReportingEntity',
  'opinionOnFinancialStatements',
  'reportingCompanyName',
  'submittingCompanyName',
  'typeOfAuditorAssistance',
] as const;

/** Probably texts: the specification shows no values. */
export const RARE_TEXT_METRICS = [
  'descriptionOfQualifications',
  'goingConcern',
  'managementsReview',
  'typeOfBasisForModifiedOpinion',
  'bankName',
] as const;

const metricOf = <S extends TSchema>(value: S) =>
  Type.Object(
    {
      unit: nullable(Type.String()),
      value: nullable(value),
      calculation: nullable(Type.String()),
      sources: Type.Array(Type.String(), { lenient: true }),
      possibleError: Type.Boolean({ default: false }),
      error: Type.Boolean({ default: false }),
    },
    { bare: 'value' },
  );

/** One figure, with its unit (`DKK`, `Percentage`, `pure`, `CVR`), its formula and its doubts. */
const numberMetric = metricOf(Type.Number());
export type NumberMetric = Static<typeof numberMetric>;

const textMetric = metricOf(Type.String());
export type TextMetric = Static<typeof textMetric>;

export const each = <K extends string, V>(names: readonly K[], value: (name: K) => V): Record<K, V> =>
  // Object.fromEntries loses the type of the keys.
  Object.fromEntries(names.map((name) => [name, value(name)])) as Record<K, V>;

const text = (...aliases: readonly string[]) => nullable(Type.String(), { aliases });

const auditor = Type.Object({
  companyName: text(),
  companyCVR: lenient(Type.Integer()),
  id: text(),
  name: text(),
  title: text(),
});

const reportData = Type.Object({
  cvr: nullable(Type.Integer()),
  reportType: text(),
  period: lenient(Type.Object({ from: nullable(time), to: nullable(time), instant: nullable(time) })),
  publicationTime: nullable(time),
  reportUrl: text('pdfUrl'),
  xbrlUrl: text('xmlUrl'),
  reportYear: nullable(Type.Integer()),
  currencies: Type.Array(Type.String()),
  auditors: Type.Array(auditor),
  supplementaryInformation: lenient(Type.Array(textMetric)),
  auditorSignatureDate: lenient(metricOf(time)),
  ...each(NUMBER_METRICS, () => nullable(numberMetric)),
  ...each(RARE_NUMBER_METRICS, () => lenient(numberMetric)),
  ...each(TEXT_METRICS, () => nullable(textMetric)),
  ...each(RARE_TEXT_METRICS, () => lenient(textMetric)),
});
export type ReportData = Static<typeof reportData>;

/** The data of `newReport`; reads the deprecated `Report` property if `data` is absent. */
export const report = Type.Object({ data: Type.Object(reportData.properties, { aliases: ['Report'] }) });
