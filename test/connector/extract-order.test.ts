import { describe, expect, test } from 'vitest';
import type { FieldName } from '../../providers/fields.ts';
import { EVENT_NAMES, type EventName } from '../../src/protocol/events.ts';
import { type Payload, payloadOf, readPayload } from '../../src/protocol/payload.ts';
import { fullStatePayload, sampleCompany } from '../../src/protocol/sample/company.ts';
import { ENTITY, factsOf, valueIn } from './facts-of.ts';

const company = { ...sampleCompany(5), entityId: ENTITY };
const read = (timestamp: string, updates: Readonly<Record<string, unknown>>): Payload => {
  const result = readPayload({ entityId: ENTITY, timestamp, updates });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.payload;
};
const of = (timestamp: string, event: EventName, data: object): Payload =>
  read(timestamp, { [event]: { updated: true, ...data } });
/** The values after these payloads, in this order of arrival. */
const valuesAfter = (payloads: readonly Payload[], ...fields: readonly FieldName[]) => {
  const facts = factsOf(payloads.map((payload, seq) => [payload, seq]));
  return fields.map((field) => valueIn(facts, field));
};
const month = (at: string, year: number, number: number, count: number) =>
  of(at, 'monthlyEmployeeCount', { year, month: number, before: null, after: count });
const metric = (value: number, more = {}) => ({ unit: 'DKK', value, ...more });
const report = (at: string, reportYear: number | null, more: object = {}) =>
  of(at, 'newReport', { data: { reportType: 'Yearly', reportYear, currencies: ['DKK'], ...more } });

describe('a value of a period is ordered by its period first', () => {
  test('an earlier month does not overwrite a later one, even if it was registered later', () => {
    const reported = [month('2026-09-01T00:00:00Z', 2026, 8, 12), month('2026-10-01T00:00:00Z', 2026, 3, 7)];
    expect(valuesAfter(reported, 'employees', 'employeesMonth')).toEqual([12, '2026-08']);
    expect(valuesAfter(reported.toReversed(), 'employees', 'employeesMonth')).toEqual([12, '2026-08']);
  });

  test('a later correction of the same month overwrites it, and months after September are newer', () => {
    expect(valuesAfter([month('2026-09-01', 2026, 8, 12), month('2026-09-02', 2026, 8, 13)], 'employees')).toEqual([
      13,
    ]);
    expect(valuesAfter([month('2026-09-01', 2026, 10, 12), month('2026-09-02', 2026, 9, 13)], 'employees')).toEqual([
      12,
    ]);
  });

  test.each([
    [2026, 13],
    [2026, 0],
    [20266, 8],
    [26, 8],
  ])('a count for the impossible month %i-%i is ignored', (year, number) => {
    const reported = [month('2026-09-01', 2026, 8, 12), month('2026-09-02', year, number, 13)];
    expect(valuesAfter(reported, 'employees', 'employeesMonth')).toEqual([12, '2026-08']);
  });

  test('quarters and years follow the same order', () => {
    const quarter = (at: string, year: number, number: number, interval: string) =>
      of(at, 'quarterlyEmployees', { year, quarter: number, before: null, after: interval });
    const year = (at: string, number: number, interval: string) =>
      of(at, 'yearlyEmployees', { year: number, before: null, after: interval });
    const reported = [
      quarter('2026-09-01', 2026, 2, '5-9'),
      quarter('2026-09-02', 2025, 4, '2-4'),
      quarter('2026-09-03', 2026, 5, '1'),
      year('2026-09-01', 2025, '10-19'),
      year('2026-09-02', 2024, '20-49'),
      year('2026-09-03', 99999, '1'),
    ];
    expect(valuesAfter(reported, 'employeesQuarterly', 'employeesYearly')).toEqual(['5-9', '10-19']);
  });

  test('an article is ordered by its time in any zone, or else by the time of its event', () => {
    const article = (at: string, time: string | null, headline: string) =>
      of(at, 'newArticle', { source: 'Avisen', headline, time, link: `https://avisen.example/${headline}` });
    const late = article('2026-09-03T00:00:00Z', '2026-09-01T01:00:00+02:00', 'before');
    const first = article('2026-09-02T00:00:00Z', '2026-08-31T23:30:00Z', 'after');
    expect(valuesAfter([first, late], 'newsHeadline', 'newsTime')).toEqual(['after', '2026-08-31T23:30:00.000Z']);
    expect(valuesAfter([first, article('2026-09-03T00:00:00Z', null, 'undated')], 'newsHeadline', 'newsTime')).toEqual([
      'undated',
      null,
    ]);
  });
});

describe('reports', () => {
  const FIGURES = ['reportYear', 'revenue', 'equity'] as const;

  test('the newest annual one counts, not the last received one', () => {
    const newest = report('2026-06-01', 2025, { equity: metric(500) });
    const older = report('2026-07-01', 2024, { equity: metric(400), revenue: metric(900) });
    expect(valuesAfter([newest, older], ...FIGURES)).toEqual([2025, null, 500]);
    expect(valuesAfter([older, newest], ...FIGURES)).toEqual([2025, null, 500]);
  });

  test('a corrected one of the same year counts', () => {
    const reported = [
      report('2026-06-01', 2025, { equity: metric(500) }),
      report('2026-07-01', 2025, { equity: metric(510) }),
    ];
    expect(valuesAfter(reported, 'equity')).toEqual([510]);
  });

  test.each(['error', 'nothing'])('a figure of last year is not shown for this year if that is %s', (what) => {
    const revenue = what === 'error' ? metric(1, { error: true }) : null;
    const reported = [report('2025-06-01', 2024, { revenue: metric(900) }), report('2026-06-01', 2025, { revenue })];
    expect(valuesAfter(reported, ...FIGURES)).toEqual([2025, null, null]);
  });

  test('a possibly wrong figure counts', () => {
    expect(valuesAfter([report('2026-06-01', 2025, { equity: metric(5, { possibleError: true }) })], 'equity')).toEqual(
      [5],
    );
  });

  test.each(['Quarterly', 'HalfYearly', 'Other'])('one of type %s is ignored', (reportType) => {
    expect(
      valuesAfter([report('2026-06-01', 2025, { reportType, equity: metric(5) })], 'equity', 'reportYear'),
    ).toEqual([undefined, undefined]);
  });

  test('one without a type is annual, and one without a year gets that of its period’s end', () => {
    const reported = report('2026-06-01', null, {
      reportType: null,
      period: { from: '2024-07-01T00:00:00', to: '2025-06-30T00:00:00', instant: null },
    });
    expect(valuesAfter([reported], 'reportYear')).toEqual([2025]);
    expect(valuesAfter([report('2026-06-01', null)], 'reportYear')).toEqual([undefined]);
    expect(valuesAfter([report('2026-06-01', 20255)], 'reportYear')).toEqual([undefined]);
  });

  test('the time of publication is in UTC, with or without a zone', () => {
    const published = (publicationTime: string) =>
      valuesAfter(
        [report('2026-06-01', 2025, { publicationTime, reportUrl: 'https://reports.example/1.pdf' })],
        'reportPublished',
      );
    expect(published('2026-05-30T08:15:30')).toEqual(['2026-05-30T08:15:30.000Z']);
    expect(published('2026-05-30T08:15:30+02:00')).toEqual(['2026-05-30T06:15:30.000Z']);
  });

  test('the currency is that of the figures, else the only stated one, else unknown', () => {
    const currency = (more: object) => valuesAfter([report('2026-06-01', 2025, more)], 'reportCurrency');
    expect(currency({ equity: { unit: 'EUR', value: 5 }, currencies: ['DKK', 'EUR'] })).toEqual(['EUR']);
    expect(currency({ solvencyRatio: { unit: 'Percentage', value: 5 } })).toEqual(['DKK']);
    expect(currency({ currencies: ['DKK', 'EUR'] })).toEqual([null]);
    expect(currency({ equity: metric(1), assets: { unit: 'EUR', value: 5 } })).toEqual([null]);
  });
});

describe('a payload that states the whole company', () => {
  const full = fullStatePayload({ ...company, board: [], altNames: [] }, '2026-08-01T00:00:00.000Z');
  const join = of('2026-07-01T00:00:00Z', 'board', {
    added: [{ entityId: 'CVR-3-1', name: 'Anne Berg' }],
    removed: [],
  });

  test('does not change lists that it does not update, which remain known in part until they are stated', () => {
    expect(valuesAfter([join], 'board')).toEqual([undefined]);
    expect(valuesAfter([join, full], 'board', 'altNames', 'accountant')).toMatchObject([
      undefined,
      undefined,
      [{ type: 'Company' }],
    ]);
    const known = fullStatePayload(company, '2026-06-01T00:00:00.000Z');
    const [board] = valuesAfter([known], 'board');
    expect(board).toHaveLength(company.board.length);
    expect(valuesAfter([known, full], 'board')).toEqual([board]);
  });

  test('ends a list that it updates without members', () => {
    const known = fullStatePayload(company, '2026-06-01T00:00:00.000Z');
    const emptied = { ...full, updates: { ...full.updates, board: { added: [], removed: [] } } };
    expect(valuesAfter([known, emptied], 'board')).toEqual([[]]);
    expect(valuesAfter([emptied], 'board')).toEqual([[]]);
  });

  test('differs from an ordinary payload with name, address, status and form, whose new members end no membership', () => {
    const known = fullStatePayload(company, '2026-06-01T00:00:00.000Z');
    const { name, address, status, form } = full.updates;
    const board = { added: [{ entityId: 'CVR-3-1', name: 'Anne Berg', type: 'Person' }], removed: [] };
    const ordinary = payloadOf(ENTITY, '2026-08-01T00:00:00.000Z', {
      ...(name && { name }),
      ...(address && { address }),
      ...(status && { status }),
      ...(form && { form }),
      board,
    });
    expect(ordinary.stated).toEqual(EVENT_NAMES);
    expect(valuesAfter([known, ordinary], 'board')[0]).toHaveLength(company.board.length + 1);
    expect(valuesAfter([ordinary], 'board')).toEqual([undefined]);
  });

  test('does not state production units and subsidiaries, whose events name one at a time', () => {
    expect(valuesAfter([full], 'productionUnits', 'subsidiaries')).toEqual([undefined, undefined]);
  });

  test('does not clear a value that it omits', () => {
    const email = of('2026-07-01T00:00:00Z', 'email', { before: null, after: 'post@nordlys.example' });
    const silent = fullStatePayload({ ...company, email: null }, '2026-08-01T00:00:00.000Z');
    expect(valuesAfter([email, silent], 'email')).toEqual(['post@nordlys.example']);
  });
});
