/** Reads the numbers of a report, calculates others, and marks contradictions. */
import type { NumberMetric, ReportData } from '../../../protocol/report.ts';
import type { FinancialStatement } from './contexts.ts';
import type { XbrlFact } from './facts.ts';
import { FORMULAS, type NumberName, SOURCES } from './metrics.ts';

/** A figure with its rounding error and the value of the year before. */
interface Figure {
  readonly value: number;
  readonly unit: string | null;
  readonly sources: readonly string[];
  readonly calculation: string | null;
  readonly slack: number;
  readonly before: number | null;
  isDoubtful: boolean;
}

export type Numbers = Partial<Record<NumberName, NumberMetric>>;

const NAMES = Object.keys(SOURCES).filter((name): name is NumberName => name in SOURCES);

/**
 * All number metrics of the statement. `possibleError` marks a figure that contradicts another one or itself, or
 * differs from last year's report by a factor of exactly 1,000 or 1,000,000; it marks all figures if company and
 * group cannot be distinguished. `error` marks unreadable figures.
 */
export function numbersOf(statement: FinancialStatement, currency: string | null, former?: ReportData): Numbers {
  const figures = new Map<NumberName, Figure>();
  const numbers: Numbers = {};
  for (const name of NAMES) {
    const read = readFigure(SOURCES[name], statement, currency);
    if (read === 'unreadable') numbers[name] = UNREADABLE;
    else if (read !== undefined) figures.set(name, read);
  }
  doubtSums(figures);
  for (const [name, figure] of figures) figure.isDoubtful ||= statement.isAmbiguous || isScaled(figure, former?.[name]);
  for (const [name, figure] of figures) numbers[name] = metricOf(figure);
  for (const [name, metric] of calculated(figures)) numbers[name] = metric;
  return numbers;
}

const UNREADABLE: NumberMetric = {
  unit: null,
  value: null,
  calculation: null,
  sources: [],
  possibleError: false,
  error: true,
};

const metricOf = ({ value, unit, calculation, sources, isDoubtful }: Figure): NumberMetric => ({
  unit,
  value,
  calculation,
  sources: [...sources],
  possibleError: isDoubtful,
  error: false,
});

function readFigure(
  sources: (typeof SOURCES)[NumberName],
  statement: FinancialStatement,
  currency: string | null,
): Figure | 'unreadable' | undefined {
  let isUnreadable = false;
  for (const source of sources) {
    const parts = (typeof source === 'string' ? [source] : source).map((concept) =>
      readElement(concept, statement, currency),
    );
    isUnreadable ||= parts.includes('unreadable');
    const found = parts.filter((part) => part !== undefined && part !== 'unreadable');
    if (parts.includes('unreadable') || found.length === 0) continue;
    return typeof source === 'string' ? found[0] : added(found);
  }
  return isUnreadable ? 'unreadable' : undefined;
}

/**
 * Of several values of an element, the most accurate one with a unit counts. It is doubtful without a unit, or if
 * another value is not a rounding of it.
 */
function readElement(
  concept: string,
  statement: FinancialStatement,
  currency: string | null,
): Figure | 'unreadable' | undefined {
  const facts = statement.now(concept).filter((fact) => isIn(fact, currency));
  const values = facts.flatMap(valued);
  const [first] = values.toSorted((a, b) => Number(a.unit === null) - Number(b.unit === null) || a.slack - b.slack);
  if (first === undefined) return facts.length > 0 ? 'unreadable' : undefined;
  const before = statement
    .before(concept)
    .filter((fact) => fact.unit === first.unit)
    .flatMap(valued);
  return {
    ...first,
    sources: [concept],
    calculation: null,
    before: before[0]?.value ?? null,
    isDoubtful:
      first.unit === null || values.some(({ value, slack }) => Math.abs(value - first.value) > slack + first.slack),
  };
}

const isCurrency = (unit: string | null): boolean => unit !== null && /^[A-Z]{3}$/.test(unit);

/** Some reports also state figures in a second currency. */
const isIn = ({ unit }: XbrlFact, currency: string | null): boolean => !isCurrency(unit) || unit === currency;

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,2})?$/i;

function valued({ value: text, unit, decimals }: XbrlFact): readonly Pick<Figure, 'value' | 'unit' | 'slack'>[] {
  const plain = text.replace(/\s/g, '');
  const value = NUMBER.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? [{ value, unit, slack: decimals === null ? 0 : 0.5 * 10 ** -decimals }] : [];
}

const added = (parts: readonly Figure[]): Figure => {
  const total = (of: (part: Figure) => number) => parts.reduce((sum, part) => sum + of(part), 0);
  return {
    value: total(({ value }) => value),
    unit: parts[0]?.unit ?? null,
    sources: parts.flatMap(({ sources }) => sources),
    calculation: parts.flatMap(({ sources }) => sources.map((name) => name.slice(name.indexOf(':') + 1))).join(' + '),
    slack: total(({ slack }) => slack),
    before: null,
    isDoubtful: parts.some(({ isDoubtful }) => isDoubtful),
  };
};

const SUMS: readonly (readonly [whole: NumberName, ...parts: NumberName[]])[] = [
  ['assets', 'liabilitiesAndEquity'],
  ['assets', 'currentAssets', 'nonCurrentAssets'],
  ['debt', 'shorttermLiabilities', 'longtermLiabilities'],
];

/** Tolerates a krone of rounding, and the figures' own accuracy. */
function doubtSums(figures: ReadonlyMap<NumberName, Figure>): void {
  for (const names of SUMS) {
    const stated = names.map((name) => figures.get(name)).filter((figure) => figure !== undefined);
    const [whole, ...parts] = stated;
    if (whole === undefined || stated.length < names.length) continue;
    const off = Math.abs(whole.value - parts.reduce((sum, { value }) => sum + value, 0));
    const slack = stated.reduce((sum, figure) => sum + figure.slack, 0);
    if (off > Math.max(1, slack)) for (const figure of stated) figure.isDoubtful = true;
  }
}

const FACTORS: readonly number[] = [1_000, 1_000_000];

/** Whether somebody entered thousands as kroner, this year or last. */
function isScaled({ value, before }: Figure, former: unknown): boolean {
  const last = isNumberMetric(former) ? former.value : null;
  if (last === null || last === 0) return false;
  return [value, before].some(
    (own) => own !== null && FACTORS.some((by) => own === last * by || (last === own * by && own !== 0)),
  );
}

const isNumberMetric = (metric: unknown): metric is { value: number } =>
  typeof metric === 'object' && metric !== null && 'value' in metric && typeof metric.value === 'number';

/** Applies the formulas whose operands exist, in order, because one may use another. */
function calculated(figures: Map<NumberName, Figure>): readonly (readonly [NumberName, NumberMetric])[] {
  const results: (readonly [NumberName, NumberMetric])[] = [];
  for (const name of NAMES.filter((one) => one in FORMULAS).sort(byFormula)) {
    const formula = FORMULAS[name];
    const operands = formula?.of.map((of) => figures.get(of)).filter((figure) => figure !== undefined) ?? [];
    if (formula === undefined || operands.length < formula.of.length) continue;
    const value = formula.result(operands.map((operand) => operand.value));
    if (value === null) continue;
    const figure: Figure = {
      value: Math.round(value * 100) / 100,
      unit: formula.isPercentage ? 'Percentage' : (operands[0]?.unit ?? null),
      sources: [...new Set(operands.flatMap(({ sources }) => sources))],
      calculation: formula.text,
      slack: 0,
      before: null,
      isDoubtful: operands.some(({ isDoubtful }) => isDoubtful),
    };
    figures.set(name, figure);
    results.push([name, metricOf(figure)]);
  }
  return results;
}

const ORDER = Object.keys(FORMULAS);
const byFormula = (a: NumberName, b: NumberName): number => ORDER.indexOf(a) - ORDER.indexOf(b);

/** Currencies by number of figures; of equals, Danish kroner first. */
export function currenciesOf(statement: FinancialStatement): readonly string[] {
  const counts = new Map<string, number>();
  for (const concept of Object.values(SOURCES).flat(2)) {
    for (const { unit } of statement.now(concept)) {
      if (unit !== null && isCurrency(unit)) counts.set(unit, (counts.get(unit) ?? 0) + 1);
    }
  }
  return [...counts].sort(([a, n], [b, m]) => m - n || Number(b === 'DKK') - Number(a === 'DKK')).map(([unit]) => unit);
}
