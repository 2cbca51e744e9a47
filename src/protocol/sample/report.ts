/** A sample annual report with consistent figures. */
import {
  each,
  NUMBER_METRICS,
  type NumberMetric,
  RARE_NUMBER_METRICS,
  RARE_TEXT_METRICS,
  type ReportData,
  TEXT_METRICS,
  type TextMetric,
} from '../report.ts';
import { sampleCvr, samplePerson } from './parts.ts';
import type { Random } from './random.ts';
import { AUDITORS } from './words.ts';

const metric = (value: number, unit = 'DKK', calculation: string | null = null): NumberMetric => ({
  unit,
  value,
  calculation,
  sources: [],
  possibleError: false,
  error: false,
});

const textMetric = (value: string): TextMetric => ({ ...metric(0), unit: null, value });

const ratio = (part: number, whole: number, calculation: string): NumberMetric =>
  metric(Math.round((part / whole) * 10_000) / 100, 'Percentage', calculation);

const figures = (random: Random) => {
  const employees = random.int(1, 80);
  const grossResult = employees * random.int(400_000, 900_000);
  const salaries = Math.round(grossResult * 0.6);
  const pensions = Math.round(salaries * 0.1);
  const depreciations = random.int(10_000, 400_000);
  const ebitda = grossResult - salaries - pensions;
  const resultBeforeTax = ebitda - depreciations;
  const taxExpense = Math.round(resultBeforeTax * 0.22);
  const result = resultBeforeTax - taxExpense;
  const currentAssets = random.int(500_000, 9_000_000);
  const nonCurrentAssets = random.int(100_000, 9_000_000);
  const assets = currentAssets + nonCurrentAssets;
  const shorttermLiabilities = Math.round(assets * 0.3);
  const longtermLiabilities = Math.round(assets * 0.2);
  const debt = shorttermLiabilities + longtermLiabilities;
  const equity = assets - debt;
  return {
    assets: metric(assets),
    currentAssets: metric(currentAssets),
    nonCurrentAssets: metric(nonCurrentAssets),
    liabilitiesAndEquity: metric(assets),
    shorttermLiabilities: metric(shorttermLiabilities),
    longtermLiabilities: metric(longtermLiabilities),
    debt: metric(debt),
    equity: metric(equity),
    grossResult: metric(grossResult),
    salaries: metric(salaries),
    pensions: metric(pensions),
    employeeExpenses: metric(salaries + pensions),
    depreciations: metric(depreciations),
    ebitda: metric(ebitda, 'DKK', 'resultBeforeTax + depreciations'),
    resultBeforeTax: metric(resultBeforeTax),
    taxExpense: metric(taxExpense),
    result: metric(result),
    employees: metric(employees, 'pure'),
    solvencyRatio: ratio(equity, assets, 'equity / assets * 100'),
    equityReturn: ratio(result, equity, 'result / equity * 100'),
    liquidityRatio: ratio(currentAssets, shorttermLiabilities, 'currentAssets / shorttermLiabilities * 100'),
  };
};

/** Metrics that the company lacks are null; most small companies publish no revenue. */
export const sampleReport = (random: Random, cvr: string, name: string, reportYear: number): ReportData => {
  const person = samplePerson(random);
  const file = `https://reports.example/${cvr}-${reportYear}`;
  return {
    ...each(NUMBER_METRICS, () => null),
    ...each(RARE_NUMBER_METRICS, () => null),
    ...each(TEXT_METRICS, () => null),
    ...each(RARE_TEXT_METRICS, () => null),
    ...figures(random),
    revenue: random.chance(0.3) ? metric(random.int(80_000_000, 200_000_000)) : null,
    cvr: Number(cvr),
    reportType: 'Yearly',
    period: { from: `${reportYear}-01-01T00:00:00`, to: `${reportYear}-12-31T00:00:00`, instant: null },
    publicationTime: `${reportYear + 1}-0${random.int(3, 7)}-${random.int(10, 28)}T08:15:30.512Z`,
    reportUrl: `${file}.pdf`,
    xbrlUrl: `${file}.xml`,
    reportYear,
    currencies: ['DKK'],
    auditors: [
      {
        companyName: random.pick(AUDITORS),
        companyCVR: Number(sampleCvr(random)),
        id: `mne${random.int(90_000, 99_999)}`,
        name: person.name,
        title: 'Statsautoriseret revisor',
      },
    ],
    supplementaryInformation: [],
    auditorSignatureDate: textMetric(`${reportYear + 1}-03-01T00:00:00`),
    classOfReportingEntity: textMetric('Regnskabsklasse B'),
    reportingCompanyName: textMetric(name),
    typeOfAuditorAssistance: textMetric('Revisionspåtegning'),
    opinionOnFinancialStatements: textMetric('Konklusion'),
  };
};
