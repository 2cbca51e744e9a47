import { describe, expect, it } from 'vitest';
import { annual, instance, type Place, plus, type Said, type Stated } from '../instance.ts';
import { page } from '../page.ts';
import { dataOf } from '../reading.ts';

const GROUP = { 'cmn:ConsolidatedSoloDimension': 'cmn:ConsolidatedMember' };
const PARENT = { 'ifrs-full:ConsolidatedAndSeparateFinancialStatementsAxis': 'ifrs-full:SeparateMember' };
const kroner = (concept: string, at: string, value: number, decimals = '0'): Said => ({
  concept,
  at,
  value,
  unit: 'kroner',
  decimals,
});
const read = (stated: Stated) => dataOf(instance(stated));
const own = { 'fsa:Assets': 1_000, 'fsa:Equity': 400, 'fsa:ProfitLoss': 10 };
const groupPlaces: readonly Place[] = [
  { id: 'groupYear', start: '2023-01-01', end: '2023-12-31', members: GROUP },
  { id: 'groupEnd', end: '2023-12-31', members: GROUP },
];
const groupFacts = [
  kroner('fsa:Assets', 'groupEnd', 9_000),
  kroner('fsa:ProfitLoss', 'groupYear', 90),
  kroner('fsa:Revenue', 'groupYear', 99_000),
];

describe('company and group', () => {
  it('are not mixed: a figure that only the group states is missing', async () => {
    const data = await read(plus(annual({ figures: own }), groupPlaces, groupFacts));
    expect([data.assets?.value, data.result?.value, data.revenue]).toEqual([1_000, 10, null]);
    expect(data.assets?.possibleError).toBe(false);
  });

  it('are both read as the group if the company states no balance', async () => {
    const data = await read(plus(annual({ figures: { 'fsa:ProfitLoss': 10 } }), groupPlaces, groupFacts));
    expect([data.assets?.value, data.result?.value, data.revenue?.value]).toEqual([9_000, 90, 99_000]);
  });

  it('do not matter for texts: only the group may say who reports', async () => {
    const name = { concept: 'gsd:NameOfReportingEntity', at: 'groupYear', value: 'Koncernen A/S' };
    const stated = plus(annual({ figures: own, texts: { 'gsd:NameOfReportingEntity': '' } }), groupPlaces, [name]);
    expect((await read(stated)).reportingCompanyName?.value).toBe('Koncernen A/S');
  });

  it('are reversed in IFRS: an unmarked figure is of the group, and the parent is marked', async () => {
    const listed = annual({ figures: { 'ifrs-full:Assets': 9_000, 'ifrs-full:ProfitLoss': 90 } });
    expect((await read(listed)).assets?.value).toBe(9_000);
    const places = [{ id: 'parentEnd', end: '2023-12-31', members: PARENT }];
    const parent = plus(listed, places, [kroner('ifrs-full:Assets', 'parentEnd', 1_000)]);
    const data = await read(parent);
    expect([data.assets?.value, data.result]).toEqual([1_000, null]);
    const aside = plus(listed, places, [kroner('ifrs-full:IssuedCapital', 'parentEnd', 5)]);
    expect((await read(aside)).assets?.value).toBe(9_000);
  });

  it('that differ only by the names of their contexts are distinguished by these, and doubted', async () => {
    const listed = annual({ figures: { 'ifrs-full:Assets': 1_000, 'ifrs-full:Equity': 500 } });
    const twins = plus(
      listed,
      [{ id: 'end_C_only', end: '2023-12-31' }],
      [kroner('ifrs-full:Assets', 'end_C_only', 9_000), kroner('ifrs-full:Liabilities', 'end_C_only', 8_000)],
    );
    const data = await read(twins);
    expect(data.assets).toMatchObject({ value: 1_000, possibleError: true });
    expect(data.equity?.possibleError).toBe(true);
    expect(data.debt).toBeNull();
    expect(data.solvencyRatio).toMatchObject({ value: 50, possibleError: true });
  });

  it('are not doubted if two contexts of other names say the same', async () => {
    const same = plus(annual({ figures: own }), [{ id: 'c', end: '2023-12-31' }], [kroner('fsa:Assets', 'c', 1_000)]);
    expect((await read(same)).assets).toMatchObject({ value: 1_000, possibleError: false });
  });
});

describe('a figure that is broken down', () => {
  it.each([
    ['the five-year table', 'cmn:RetrospectiveInformationDimension', 'cmn:PreviousYearMember'],
    ['a class of equity', 'fsa:ClassesOfEquityDimension', 'fsa:RetainedEarningsMember'],
    ['the distribution of the result', 'fsa:ResultDistributionDimension', 'fsa:ProposedDividendMember'],
  ])('by %s is never treated as the whole', async (_, dimension, member) => {
    const members = { [dimension]: member };
    const places = [
      { id: 'partYear', start: '2023-01-01', end: '2023-12-31', members },
      { id: 'partEnd', end: '2023-12-31', members },
      { id: 'both', end: '2023-12-31', members: { ...GROUP, ...members } },
    ];
    const facts = [
      kroner('fsa:Assets', 'partEnd', 1),
      kroner('fsa:ProfitLoss', 'partYear', 2),
      kroner('fsa:Equity', 'both', 3),
      kroner('fsa:Revenue', 'partYear', 4),
    ];
    const data = await read(plus(annual({ figures: own }), places, facts));
    expect([data.assets?.value, data.result?.value, data.equity?.value, data.revenue]).toEqual([1_000, 10, 400, null]);
    expect(data.assets?.possibleError).toBe(false);
  });
});

describe('the period', () => {
  it('is that of the document, not that of the index', async () => {
    const stated = annual({ start: '2022-07-01', end: '2023-06-30', figures: own });
    const data = await dataOf(instance(stated), { period: { start: '2023-01-01', end: '2023-12-31' } });
    expect(data.period).toEqual({ from: '2022-07-01T00:00:00', to: '2023-06-30T00:00:00', instant: null });
    expect([data.reportYear, data.assets?.value]).toEqual([2023, 1_000]);
  });

  it('is that of the index if the document states none, or one without figures', async () => {
    for (const end of ['', '2019-12-31']) {
      const texts = { 'gsd:ReportingPeriodStartDate': end && '2019-01-01', 'gsd:ReportingPeriodEndDate': end };
      expect((await read(annual({ figures: own, texts }))).assets?.value).toBe(1_000);
    }
  });

  it('is the newest of the longest if neither states it', async () => {
    const texts = { 'gsd:ReportingPeriodStartDate': '', 'gsd:ReportingPeriodEndDate': '' };
    const stated = plus(
      annual({ figures: own, former: { 'fsa:ProfitLoss': 7 }, texts }),
      [{ id: 'quarter', start: '2023-10-01', end: '2023-12-31' }],
      [kroner('fsa:ProfitLoss', 'quarter', 3)],
    );
    const data = await dataOf(instance(stated), { period: undefined });
    expect([data.period?.from, data.result?.value]).toEqual(['2023-01-01T00:00:00', 10]);
  });

  it('has no figures of last year, and none of the start of the year, which is last year’s end', async () => {
    const stated = plus(
      annual({ former: own, figures: { 'fsa:Revenue': 5 } }),
      [{ id: 'start', end: '2023-01-01' }],
      [kroner('fsa:Equity', 'start', 399)],
    );
    const data = await read(stated);
    expect([data.assets, data.equity, data.result, data.revenue?.value]).toEqual([null, null, null, 5]);
  });

  const REGISTERED = {
    'gsd:TypeOfReportingPeriodDimension':
      'gsd:RegisteredReportingPeriodDeviatingFromReportedReportingPeriodDueArbitraryDatesMember',
  };
  /** The report with the registered period stated first, under its dimension. */
  const registered = (stated: Stated, start: string, end: string): Stated => ({
    ...stated,
    places: [...stated.places, { id: 'registered', start, end, members: REGISTERED }],
    facts: [
      { concept: 'gsd:ReportingPeriodStartDate', at: 'registered', value: start },
      { concept: 'gsd:ReportingPeriodEndDate', at: 'registered', value: end },
      ...stated.facts,
    ],
  });

  it('is the reported one if the registered one is stated before it: a short year', async () => {
    const short = annual({ start: '2025-01-01', end: '2025-09-30', figures: own });
    const places = [
      { id: 'year2024', start: '2024-01-01', end: '2024-12-31' },
      { id: 'end2024', end: '2024-12-31' },
    ];
    const former = [kroner('fsa:ProfitLoss', 'year2024', 77), kroner('fsa:Assets', 'end2024', 7_000)];
    for (const texts of [true, false]) {
      const stated = registered(plus(short, places, former), '2025-01-01', '2025-12-31');
      const facts = stated.facts.filter(
        ({ concept, at }) => texts || at === 'registered' || !concept.startsWith('gsd:Rep'),
      );
      for (const period of [
        undefined,
        { start: '2025-01-01', end: '2025-12-31' },
        { start: '2024-01-01', end: '2024-12-31' },
      ]) {
        const data = await dataOf(instance({ ...stated, facts }), { period });
        expect([data.period?.from, data.period?.to]).toEqual(['2025-01-01T00:00:00', '2025-09-30T00:00:00']);
        expect([data.reportYear, data.result?.value, data.assets?.value]).toEqual([2025, 10, 1_000]);
      }
    }
  });

  it('is the reported one if the registered one is stated before it: a year of 15 months', async () => {
    const long = annual({ start: '2024-10-01', end: '2025-12-31', figures: own });
    const stated = registered(long, '2025-01-01', '2025-12-31');
    const facts = stated.facts.filter(({ concept, at }) => at === 'registered' || !concept.startsWith('gsd:Rep'));
    for (const one of [stated, { ...stated, facts }]) {
      const data = await dataOf(instance(one), { period: { start: '2025-01-01', end: '2025-12-31' } });
      expect([data.period?.from, data.result?.value, data.assets?.value]).toEqual(['2024-10-01T00:00:00', 10, 1_000]);
    }
  });
});

describe('several reports in one document', () => {
  const group = { 'ifrs-full:Assets': 9_000, 'ifrs-full:Equity': 3_000, 'ifrs-full:Revenue': 99_000 };
  const parent = { 'fsa:Assets': 1_000, 'fsa:Equity': 400, 'fsa:LiabilitiesAndEquity': 1_000 };
  const values = ({ assets, equity, revenue }: Awaited<ReturnType<typeof dataOf>>) =>
    [assets, equity, revenue].map((metric) => metric?.value ?? null);

  it('are separated by target: revenue of the group is never beside assets of the parent', async () => {
    const stated = annual({ figures: { ...group, ...parent } });
    const data = await dataOf(
      page(stated, { targetOf: (concept) => (concept.startsWith('fsa:') ? 'danish' : undefined) }),
    );
    expect(values(data)).toEqual([1_000, 400, null]);
    expect(data.assets).toMatchObject({ sources: ['fsa:Assets'], possibleError: false });
  });

  it('are separated by the company of their contexts', async () => {
    const listed = annual({ figures: parent });
    const places = [
      { id: 'groupYear', start: '2023-01-01', end: '2023-12-31', entity: '00INVENTED0000000000' },
      { id: 'groupEnd', end: '2023-12-31', entity: '00INVENTED0000000000' },
    ];
    const facts = Object.entries(group).map(([concept, value]) =>
      kroner(concept, concept.endsWith('Revenue') ? 'groupYear' : 'groupEnd', value),
    );
    for (const write of [instance, page])
      expect(values(await dataOf(write(plus(listed, places, facts))))).toEqual([1_000, 400, null]);
    const alone = plus(annual({ figures: { 'fsa:ProfitLoss': 5 } }), places, facts);
    expect(values(await dataOf(instance(alone)))).toEqual([9_000, 3_000, 99_000]);
  });

  it('are one if a number is spelled in two ways', async () => {
    const stated = annual({ figures: own });
    const places = stated.places.map((place) => (place.id === 'end' ? { ...place, entity: 'DK 90000007' } : place));
    const data = await dataOf(instance({ ...stated, places }));
    expect([data.assets?.value, data.result?.value]).toEqual([1_000, 10]);
  });
});
