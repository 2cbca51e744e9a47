import { describe, expect, it } from 'vitest';
import { annual, instance, plus, type Said, type Year } from '../instance.ts';
import { dataOf } from '../reading.ts';

const read = (year: Year) => dataOf(instance(annual(year)));
const of = (figures: Record<string, number | string>, year: Year = {}) => read({ figures, ...year });
const again = (concept: string, value: number | string, more: Partial<Said> = {}): Said => ({
  concept,
  value,
  at: 'end',
  unit: 'kroner',
  ...more,
});

describe('a figure', () => {
  it('has its full value whatever its accuracy, and may have blanks around and within', async () => {
    const data = await of(
      { 'fsa:Assets': ' 1 304 981\n', 'fsa:AverageNumberOfEmployees': '7285.000' },
      { decimals: '-3' },
    );
    expect(data.assets).toEqual({
      unit: 'DKK',
      value: 1_304_981,
      calculation: null,
      sources: ['fsa:Assets'],
      possibleError: false,
      error: false,
    });
    expect(data.employees).toMatchObject({ unit: 'pure', value: 7_285 });
  });

  it('that is stated but unreadable is an error without a value', async () => {
    expect((await of({ 'fsa:Assets': 'n/a' })).assets).toMatchObject({ value: null, error: true });
    expect((await of({ 'fsa:Assets': '1e999' })).assets).toMatchObject({ value: null, error: true });
  });

  it('without a unit is doubtful, and counts only if none has one', async () => {
    const bare: Said = { concept: 'fsa:Assets', value: 500, at: 'end' };
    const alone = await dataOf(instance(plus(annual({ figures: { 'fsa:Equity': 5 } }), [], [bare])));
    expect(alone.assets).toMatchObject({ value: 500, unit: null, possibleError: true });
    expect(alone.solvencyRatio).toMatchObject({ value: 1, possibleError: true });
    const beside = await dataOf(instance(plus(annual({ figures: { 'fsa:Assets': 500 } }), [], [bare])));
    expect(beside.assets).toMatchObject({ value: 500, unit: 'DKK', possibleError: false });
  });

  it('is searched under several names in order', async () => {
    const data = await of({
      'fsa:NumberOfEmployees': 4,
      'fsa:GrossResult': 5,
      'fsa:OtherExternalExpenses': 6,
      'ifrs-dk:NetSales': 7,
    });
    expect(
      [data.employees, data.grossResult, data.externalExpenses, data.revenue].map((metric) => metric?.sources),
    ).toEqual([['fsa:NumberOfEmployees'], ['fsa:GrossResult'], ['fsa:OtherExternalExpenses'], ['ifrs-dk:NetSales']]);
  });

  it('is the sum of its parts if the whole is not stated', async () => {
    const data = await of({
      'fsa:LongtermLiabilitiesOtherThanProvisions': 30,
      'fsa:ShorttermLiabilitiesOtherThanProvisions': 12,
      'fsa:CurrentDeferredTaxAssets': 5,
    });
    expect(data.debt).toMatchObject({
      value: 42,
      calculation: 'LongtermLiabilitiesOtherThanProvisions + ShorttermLiabilitiesOtherThanProvisions',
      sources: ['fsa:LongtermLiabilitiesOtherThanProvisions', 'fsa:ShorttermLiabilitiesOtherThanProvisions'],
    });
    expect(data.deferredTaxAssets?.value).toBe(5);
  });

  it('that is repeated is one figure, rounded is the more accurate one, and contradicted is doubted', async () => {
    const stated = annual({ figures: { 'fsa:Assets': 1_234_567 } });
    const data = (more: Said[]) => dataOf(instance(plus(stated, [], more)));
    expect((await data([again('fsa:Assets', 1_234_567)])).assets).toMatchObject({ possibleError: false });
    for (const rounded of [
      [again('fsa:Assets', 1_235_000, { decimals: '-3' })],
      [again('fsa:Assets', '1234567.4', { decimals: '1' })],
    ])
      expect((await data(rounded)).assets).toMatchObject({ possibleError: false });
    expect((await data([again('fsa:Assets', 1_235_000, { decimals: '-3' })])).assets?.value).toBe(1_234_567);
    expect((await data([again('fsa:Assets', 1_300_000, { decimals: '-3' })])).assets?.possibleError).toBe(true);
    expect((await data([again('fsa:Assets', 1_234_570)])).assets?.possibleError).toBe(true);
  });

  it('in a second currency for convenience is ignored', async () => {
    const units = { kroner: 'iso4217:DKK', count: 'xbrli:pure', euro: 'iso4217:EUR' };
    const stated = annual({ figures: { 'fsa:Assets': 745, 'fsa:Equity': 74.5 } });
    const both = plus(
      { ...stated, units },
      [],
      [again('fsa:Assets', 100, { unit: 'euro' }), again('fsa:Revenue', 9, { unit: 'euro', at: 'year' })],
    );
    const data = await dataOf(instance(both));
    expect(data.assets).toMatchObject({ value: 745, unit: 'DKK', possibleError: false });
    expect([data.revenue, data.currencies]).toEqual([null, ['DKK', 'EUR']]);
    const euro = await dataOf(instance({ ...stated, units: { kroner: 'iso4217:EUR', count: 'pure' } }));
    expect([euro.assets?.unit, euro.currencies]).toEqual(['EUR', ['EUR']]);
  });
});

describe('a calculated figure', () => {
  const figures = {
    'fsa:Assets': 2_000,
    'fsa:CurrentAssets': 900,
    'fsa:Equity': 800,
    'fsa:ProposedDividendRecognisedInEquity': 200,
    'fsa:ShorttermLiabilitiesOtherThanProvisions': 600,
    'fsa:ProfitLoss': 120,
    'fsa:GrossProfitLoss': 700,
    'fsa:Revenue': 1_400,
    'fsa:ProfitLossFromOrdinaryOperatingActivities': 150,
    'fsa:DepreciationAmortisationExpenseAndImpairmentLossesOfPropertyPlantAndEquipmentAndIntangibleAssetsRecognisedInProfitOrLoss': 50,
  };

  it.each([
    ['solvencyRatio', 40, 'Percentage', 'equity / assets * 100'],
    ['equityExcludingDividend', 600, 'DKK', 'equity - dividend'],
    ['solvencyRatioExcludingDividend', 30, 'Percentage', 'equityExcludingDividend / assets * 100'],
    ['roi', 7.5, 'Percentage', 'profitFromOrdinaryOperatingActivities / assets * 100'],
    ['equityReturn', 15, 'Percentage', 'result / equity * 100'],
    ['liquidityRatio', 150, 'Percentage', 'currentAssets / shorttermLiabilities * 100'],
    ['coverage', 50, 'Percentage', 'grossResult / revenue * 100'],
    ['operatingMargin', 10.71, 'Percentage', 'profitFromOrdinaryOperatingActivities / revenue * 100'],
    ['ebitda', 200, 'DKK', 'profitFromOrdinaryOperatingActivities + depreciations'],
  ] as const)('%s is %d %s by its formula', async (name, value, unit, calculation) => {
    expect((await of(figures))[name]).toMatchObject({ value, unit, calculation, possibleError: false });
  });

  it('says which elements it comes from', async () => {
    const { solvencyRatioExcludingDividend: ratio } = await of(figures);
    expect(ratio?.sources).toEqual(['fsa:Equity', 'fsa:ProposedDividendRecognisedInEquity', 'fsa:Assets']);
  });

  it('is null if an operand is missing or the divisor is zero', async () => {
    const data = await of({ ...figures, 'fsa:Assets': 0, 'fsa:Revenue': 0 });
    expect([data.solvencyRatio, data.roi, data.coverage, data.solvencyRatioExcludingDividend]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    const few = await of({ 'fsa:Equity': 1 });
    expect([few.solvencyRatio, few.ebitda, few.equityExcludingDividend]).toEqual([null, null, null]);
  });
});

describe('a doubt', () => {
  const balance = {
    'fsa:Assets': 1_000,
    'fsa:LiabilitiesAndEquity': 1_000,
    'fsa:CurrentAssets': 400,
    'fsa:NoncurrentAssets': 600,
  };

  it('does not arise if the sums match, to the krone', async () => {
    const data = await of({ ...balance, 'fsa:LiabilitiesAndEquity': 1_001 });
    expect(data.assets?.possibleError).toBe(false);
  });

  it.each([
    ['fsa:LiabilitiesAndEquity', ['assets', 'liabilitiesAndEquity']],
    ['fsa:CurrentAssets', ['assets', 'currentAssets', 'nonCurrentAssets']],
  ] as const)(
    'arises if %s does not add up, for all of the sum and what is calculated from it',
    async (concept, names) => {
      const data = await of({ ...balance, 'fsa:Equity': 10, [concept]: 700 });
      for (const name of names) expect(data[name]?.possibleError, name).toBe(true);
      expect(data.equity?.possibleError).toBe(false);
      expect(data.solvencyRatio?.possibleError).toBe(true);
    },
  );

  it('arises if debt is not its long-term and its short-term part', async () => {
    const debt = {
      'fsa:LiabilitiesOtherThanProvisions': 100,
      'fsa:LongtermLiabilitiesOtherThanProvisions': 60,
      'fsa:ShorttermLiabilitiesOtherThanProvisions': 40,
    };
    expect((await of(debt)).debt?.possibleError).toBe(false);
    expect((await of({ ...debt, 'fsa:LongtermLiabilitiesOtherThanProvisions': 62 })).debt?.possibleError).toBe(true);
  });

  it('tolerates figures in thousands', async () => {
    const inThousands = { 'fsa:Assets': 1_000_000, 'fsa:CurrentAssets': 400_000, 'fsa:NoncurrentAssets': 601_000 };
    expect((await of(inThousands, { decimals: '-3' })).assets?.possibleError).toBe(false);
    expect((await of(inThousands)).assets?.possibleError).toBe(true);
  });

  it('arises if last year’s report had exactly a thousand or a million times as much, or as little', async () => {
    const former = await of(
      { 'fsa:ContributedCapital': 125_000, 'fsa:Equity': 5_000_000, 'fsa:Assets': 7_000_000 },
      { start: '2022-01-01', end: '2022-12-31' },
    );
    const now = (year: Year) => dataOf(instance(annual(year)), {}, former);
    const data = await now({
      figures: { 'fsa:ContributedCapital': 125, 'fsa:Equity': 6_000, 'fsa:Assets': 7_000_001 },
      former: { 'fsa:Equity': 5_000 },
    });
    expect(data.capital?.possibleError, 'the same capital in thousands').toBe(true);
    expect(data.equity?.possibleError, 'last year’s equity as this report repeats it').toBe(true);
    expect(data.assets?.possibleError).toBe(false);
    expect((await now({ figures: { 'fsa:ContributedCapital': 125_000_000 } })).capital?.possibleError).toBe(true);
    const labelled = plus(
      annual({ figures: { 'fsa:Equity': 6_000 } }),
      [{ id: 'start', end: '2023-01-01' }],
      [again('fsa:Equity', 5_000, { at: 'start' })],
    );
    const started = await dataOf(instance(labelled), {}, former);
    expect(started.equity, 'last year’s end called this year’s start').toMatchObject({
      value: 6_000,
      possibleError: true,
    });
    const millions = await now({ figures: { 'fsa:Equity': 5 } });
    expect(millions.equity?.possibleError).toBe(true);
    expect((await now({ figures: { 'fsa:Equity': 0 } })).equity?.possibleError).toBe(false);
  });

  it('covers all figures if the document is another company’s', async () => {
    const data = await of(balance, { cvr: '90000015' });
    expect(data.assets).toMatchObject({ value: 1_000, possibleError: true });
    expect(data.revenue).toBeNull();
  });
});
