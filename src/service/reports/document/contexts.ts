/** Selects the facts of this year, of the company or its group. */
import type { Facts, XbrlContext, XbrlFact } from './facts.ts';
import { dayBefore } from './resources.ts';

/** Days, YYYY-MM-DD, both included. */
export interface ReportPeriod {
  readonly start: string | null;
  readonly end: string;
}

/** `company`: the legal entity alone. `group`: with its subsidiaries. */
export type ReportBasis = 'company' | 'group';

export interface FinancialStatement {
  readonly period: ReportPeriod;
  readonly basis: ReportBasis;
  /** Whether company and group differ only in the names of contexts, or in nothing. */
  readonly isAmbiguous: boolean;
  now(concept: string): readonly XbrlFact[];
  before(concept: string): readonly XbrlFact[];
  readonly size: number;
}

const CONSOLIDATION: readonly string[] = [
  'cmn:ConsolidatedSoloDimension',
  'ifrs-full:ConsolidatedAndSeparateFinancialStatementsAxis',
];
/** A basis without any of these is not a report, only a few extra figures. */
const CORE = ['fsa:Assets', 'fsa:Equity', 'ifrs-full:Assets', 'ifrs-full:Equity', 'ifrs-full:EquityAndLiabilities'];

/** Whether a context has no dimension other than the consolidation. */
export const isPlain = (context: XbrlContext): boolean =>
  Object.keys(context.dimensions).every((dimension) => CONSOLIDATION.includes(dimension));

/**
 * Chooses one report before it reads any figure. A document may hold several, which differ by the target of an inline
 * page and by the entity of the contexts: chooses the company's if it has its balance, else the group's. Ignores
 * facts under any other dimension, such as the five-year table.
 */
export function statementOf(
  facts: Facts,
  filed: ReportPeriod | undefined,
  isFigure: (concept: string) => boolean,
): FinancialStatement {
  const plain = [...facts].flatMap(([concept, stated]) =>
    isFigure(concept) ? stated.filter(({ context }) => isPlain(context)) : [],
  );
  const [first = [], ...others] = Map.groupBy(plain, wholeOf).values();
  return others.map((figures) => statementIn(figures, facts, filed)).reduce(better, statementIn(first, facts, filed));
}

const wholeOf = ({ target, context }: XbrlFact): string => `${target} ${context.entity}`;

const better = (a: FinancialStatement, b: FinancialStatement): FinancialStatement =>
  rank(b) > rank(a) || (rank(b) === rank(a) && b.size > a.size) ? b : a;

const rank = ({ basis, now }: FinancialStatement): number =>
  CORE.some((concept) => now(concept).length > 0) ? (basis === 'company' ? 2 : 1) : 0;

/** One report of a document, for its stated period, of the company or the group. */
function statementIn(plain: readonly XbrlFact[], facts: Facts, filed: ReportPeriod | undefined): FinancialStatement {
  const isIfrs =
    !plain.some(({ concept }) => concept === 'fsa:Assets') && plain.some(({ concept }) => concept.startsWith('ifrs-'));
  const twins = twinsIn(plain);
  const basisOf = (context: XbrlContext): ReportBasis =>
    stateBasis(context) ?? twins.get(context.id) ?? (isIfrs ? 'group' : 'company');
  const period = choosePeriod(facts, filed, plain);
  const current = plain.filter(({ context }) => isOf(context, period));
  const basis = chooseBasis(current, basisOf);
  const isOurs = ({ context }: XbrlFact) => basisOf(context) === basis;
  const now = byConcept(current.filter(isOurs));
  const isBefore = yearBefore(period);
  const before = byConcept(plain.filter((fact) => isBefore(fact.context) && isOurs(fact)));
  return {
    period,
    basis,
    isAmbiguous: twins.size > 0,
    now: (concept) => now.get(concept) ?? [],
    before: (concept) => before.get(concept) ?? [],
    size: now.size,
  };
}

const byConcept = (facts: readonly XbrlFact[]): ReadonlyMap<string, readonly XbrlFact[]> =>
  Map.groupBy(facts, ({ concept }) => concept);

function stateBasis({ dimensions }: XbrlContext): ReportBasis | undefined {
  for (const dimension of CONSOLIDATION) {
    const member = dimensions[dimension];
    if (member !== undefined) return /:Consolidated/.test(member) ? 'group' : 'company';
  }
  return undefined;
}

function chooseBasis(figures: readonly XbrlFact[], basisOf: (context: XbrlContext) => ReportBasis): ReportBasis {
  const has = (basis: ReportBasis, concepts?: readonly string[]) =>
    figures.some(
      ({ concept, context }) => basisOf(context) === basis && (concepts === undefined || concepts.includes(concept)),
    );
  if (has('company', CORE)) return 'company';
  if (has('group', CORE)) return 'group';
  return has('company') || !has('group') ? 'company' : 'group';
}

const isOf = ({ start, end }: XbrlContext, period: ReportPeriod): boolean =>
  end === period.end && (start === null || start === period.start);

/** Matches last year's contexts. Some documents give the start of this year as the end of last year. */
function yearBefore({ start: first }: ReportPeriod): (context: XbrlContext) => boolean {
  if (first === null) return () => false;
  const last = dayBefore(first);
  return ({ start, end }) => end === last || (start === null && end === first);
}

const DAY = /^\s*(\d{4}-\d{2}-\d{2})/;

/**
 * The period that the document states, else the filing's, else the newest one. A document may state the registered
 * period under a dimension, which is not the reported one. If the days contradict the figures, the figures decide the
 * length of the year.
 */
function choosePeriod(facts: Facts, filed: ReportPeriod | undefined, figures: readonly XbrlFact[]): ReportPeriod {
  const whole = figures[0] === undefined ? '' : wholeOf(figures[0]);
  const end = dayIn(facts, 'gsd:ReportingPeriodEndDate', whole);
  const start = dayIn(facts, 'gsd:ReportingPeriodStartDate', whole) ?? null;
  const stated = end === undefined ? undefined : { start, end };
  const newest = newestPeriod(figures);
  // The index has the registered period, which may be the year before a shorter one.
  const isPast =
    newest !== undefined && filed !== undefined && filed.end < newest.end && hasBalance(figures, newest.end);
  const candidates = [stated, isPast ? undefined : filed, newest].filter((period) => period !== undefined);
  const fits = (period: ReportPeriod) => figures.some(({ context }) => isOf(context, period));
  const chosen = candidates.find(fits) ?? candidates[0] ?? { start: null, end: '' };
  const isLong = figures.some(({ context }) => context.start !== null && isOf(context, chosen));
  return isLong || newest === undefined || newest.end !== chosen.end ? chosen : newest;
}

function dayIn(facts: Facts, concept: string, whole: string): string | undefined {
  const days = (facts.get(concept) ?? []).flatMap((fact) => {
    const date = isPlain(fact.context) ? DAY.exec(fact.value)?.[1] : undefined;
    return date === undefined ? [] : [{ date, isOurs: wholeOf(fact) === whole }];
  });
  return (days.find(({ isOurs }) => isOurs) ?? days[0])?.date;
}

const hasBalance = (figures: readonly XbrlFact[], end: string | null): boolean =>
  figures.some(({ concept, context }) => context.start === null && context.end === end && CORE.includes(concept));

/** A first financial year may last one and a half years. */
const MAX_DAYS = 550;

/** The longest period that ends with the newest balance, even if it is shorter than the year before. */
function newestPeriod(figures: readonly XbrlFact[]): ReportPeriod | undefined {
  const days = ({ start, end }: XbrlContext) => (Date.parse(end ?? '') - Date.parse(start ?? '')) / 86_400_000;
  const periods = [...new Set(figures.map(({ context }) => context))]
    .filter((context) => days(context) > 0 && days(context) <= MAX_DAYS)
    .sort((a, b) => ((a.end ?? '') < (b.end ?? '') ? 1 : -1));
  const newest = periods.find(({ end }) => hasBalance(figures, end)) ?? periods[0];
  const [longest] = periods.filter(({ end }) => end === newest?.end).sort((a, b) => days(b) - days(a));
  return longest?.end == null ? undefined : { start: longest.start, end: longest.end };
}

/** Values to compare for one element. */
const MAX_OTHERS = 8;
const GROUP_NAME = /(?:^|[_\-.])(?:c|cons|consolidated|group|koncern)(?:$|[_\-.])/i;

/**
 * Contexts that differ only in their id and hold different figures, by id. Some IFRS filings with Danish additions
 * distinguish company and group in no other way.
 */
function twinsIn(figures: readonly XbrlFact[]): ReadonlyMap<string, ReportBasis> {
  const values = new Map<string, { readonly isGroup: boolean; readonly value: string }[]>();
  let differ = false;
  for (const { concept, context, unit, value } of figures) {
    const { start, end, dimensions } = context;
    const key = [concept, unit, start, end, ...Object.entries(dimensions).flat()].join(' ');
    const own = { isGroup: GROUP_NAME.test(context.id), value: value.trim() };
    const others = values.get(key);
    if (others === undefined) values.set(key, [own]);
    else {
      if (others.length > MAX_OTHERS) continue;
      differ ||= others.some(({ isGroup, value }) => isGroup !== own.isGroup && value !== own.value);
      if (!others.some(({ isGroup, value }) => isGroup === own.isGroup && value === own.value)) others.push(own);
    }
  }
  if (!differ) return new Map();
  return new Map(figures.map(({ context: { id } }) => [id, GROUP_NAME.test(id) ? 'group' : 'company']));
}
