import { each, NUMBER_METRICS, RARE_NUMBER_METRICS } from '../../../protocol/report.ts';

export type NumberName = (typeof NUMBER_METRICS)[number] | (typeof RARE_NUMBER_METRICS)[number];

/** An element, or several to add up. At least one must be stated. */
export type Source = string | readonly string[];

const DEPRECIATIONS =
  'DepreciationAmortisationExpenseAndImpairmentLossesOfPropertyPlantAndEquipmentAndIntangibleAssetsRecognisedInProfitOrLoss';

/** Both taxonomies use the same name. */
const both = (name: string): readonly Source[] => [`fsa:${name}`, `ifrs-full:${name}`];

/** The Danish taxonomy uses the metric's name with a capital. */
const capital = (name: string): readonly Source[] => [`fsa:${name.charAt(0).toUpperCase()}${name.slice(1)}`];

/**
 * The elements that hold the figure of each metric; the first stated one counts. From the Danish taxonomies of 2012
 * to 2025 and from IFRS. A metric without elements is calculated or does not exist.
 */
export const SOURCES: Readonly<Record<NumberName, readonly Source[]>> = {
  ...each([...NUMBER_METRICS, ...RARE_NUMBER_METRICS], (): readonly Source[] => []),
  ...each(RARE_NUMBER_METRICS, capital),
  assets: both('Assets'),
  capital: ['fsa:ContributedCapital', 'ifrs-full:IssuedCapital'],
  cashHoldings: both('CashAndCashEquivalents'),
  currentAssets: both('CurrentAssets'),
  debt: [
    'fsa:LiabilitiesOtherThanProvisions',
    ['fsa:LongtermLiabilitiesOtherThanProvisions', 'fsa:ShorttermLiabilitiesOtherThanProvisions'],
    'ifrs-full:Liabilities',
    ['ifrs-full:NoncurrentLiabilities', 'ifrs-full:CurrentLiabilities'],
  ],
  deferredTaxAssets: [
    'fsa:DeferredTaxAssets',
    ['fsa:CurrentDeferredTaxAssets', 'fsa:NoncurrentDeferredTaxAssets'],
    'ifrs-full:DeferredTaxAssets',
  ],
  depreciations: [`fsa:${DEPRECIATIONS}`, 'ifrs-full:DepreciationAndAmortisationExpense'],
  dividend: ['fsa:ProposedDividendRecognisedInEquity', 'fsa:ProposedDividend'],
  employeeExpenses: both('EmployeeBenefitsExpense'),
  employees: [
    'fsa:AverageNumberOfEmployees',
    'fsa:NumberOfEmployees',
    'ifrs-full:AverageNumberOfEmployees',
    'ifrs-full:NumberOfEmployees',
  ],
  equity: both('Equity'),
  externalExpenses: ['fsa:ExternalExpenses', 'fsa:OtherExternalExpenses'],
  financialFixedAssets: ['fsa:LongtermInvestmentsAndReceivables', 'ifrs-full:NoncurrentFinancialAssets'],
  grossResult: ['fsa:GrossProfitLoss', 'fsa:GrossResult', 'ifrs-full:GrossProfit'],
  intangibleFixedAssets: [
    'fsa:IntangibleAssets',
    'ifrs-full:IntangibleAssetsAndGoodwill',
    ['ifrs-full:IntangibleAssetsOtherThanGoodwill', 'ifrs-full:Goodwill'],
  ],
  liabilitiesAndEquity: ['fsa:LiabilitiesAndEquity', 'ifrs-full:EquityAndLiabilities'],
  longtermLiabilities: ['fsa:LongtermLiabilitiesOtherThanProvisions', 'ifrs-full:NoncurrentLiabilities'],
  nonCurrentAssets: both('NoncurrentAssets'),
  otherFinanceExpenses: ['fsa:OtherFinanceExpenses', 'ifrs-full:FinanceCosts'],
  otherFinanceIncome: ['fsa:OtherFinanceIncome', 'ifrs-full:FinanceIncome'],
  pensions: ['fsa:PostemploymentBenefitExpense', 'ifrs-full:PostemploymentBenefitExpenseDefinedContributionPlans'],
  profitFromOrdinaryOperatingActivities: [
    'fsa:ProfitLossFromOrdinaryOperatingActivities',
    'ifrs-full:ProfitLossFromOperatingActivities',
  ],
  result: both('ProfitLoss'),
  resultBeforeTax: ['fsa:ProfitLossFromOrdinaryActivitiesBeforeTax', 'ifrs-full:ProfitLossBeforeTax'],
  revenue: [...both('Revenue'), 'ifrs-dk:NetSales'],
  salaries: both('WagesAndSalaries'),
  shorttermInvestments: ['fsa:ShorttermInvestments'],
  shorttermLiabilities: ['fsa:ShorttermLiabilitiesOtherThanProvisions', 'ifrs-full:CurrentLiabilities'],
  shorttermReceivables: ['fsa:ShorttermReceivables', 'ifrs-full:TradeAndOtherCurrentReceivables'],
  shorttermTradePayables: ['fsa:ShorttermTradePayables', 'ifrs-full:TradeAndOtherCurrentPayablesToTradeSuppliers'],
  shorttermTradeReceivables: ['fsa:ShorttermTradeReceivables', 'ifrs-full:CurrentTradeReceivables'],
  socialSecurityExpenses: both('SocialSecurityContributions'),
  tangibleFixedAssets: both('PropertyPlantAndEquipment'),
  taxExpense: [
    'fsa:TaxExpense',
    'fsa:TaxExpenseOnOrdinaryActivities',
    'ifrs-full:IncomeTaxExpenseContinuingOperations',
  ],
};

const FIGURES: ReadonlySet<string> = new Set(Object.values(SOURCES).flat(2));

export const isFigure = (concept: string): boolean => FIGURES.has(concept);

type Operands = readonly NumberName[];

/** A figure that is calculated from others; null if an operand is missing. */
export interface Formula {
  readonly of: Operands;
  readonly text: string;
  readonly isPercentage: boolean;
  readonly result: (values: readonly number[]) => number | null;
}

const share = (part: NumberName, whole: NumberName): Formula => ({
  of: [part, whole],
  text: `${part} / ${whole} * 100`,
  isPercentage: true,
  result: ([a, b]) => (a === undefined || b === undefined || b === 0 ? null : (a / b) * 100),
});

const sum = (text: string, of: Operands, sign: 1 | -1): Formula => ({
  of,
  text,
  isPercentage: false,
  result: ([a, b]) => (a === undefined || b === undefined ? null : a + sign * b),
});

/** An operand comes before the formulas that use it. */
export const FORMULAS: Readonly<Partial<Record<NumberName, Formula>>> = {
  ebitda: sum(
    'profitFromOrdinaryOperatingActivities + depreciations',
    ['profitFromOrdinaryOperatingActivities', 'depreciations'],
    1,
  ),
  equityExcludingDividend: sum('equity - dividend', ['equity', 'dividend'], -1),
  solvencyRatio: share('equity', 'assets'),
  solvencyRatioExcludingDividend: share('equityExcludingDividend', 'assets'),
  roi: share('profitFromOrdinaryOperatingActivities', 'assets'),
  equityReturn: share('result', 'equity'),
  liquidityRatio: share('currentAssets', 'shorttermLiabilities'),
  coverage: share('grossResult', 'revenue'),
  operatingMargin: share('profitFromOrdinaryOperatingActivities', 'revenue'),
};
