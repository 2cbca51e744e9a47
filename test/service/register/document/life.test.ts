import { describe, expect, test } from 'vitest';
import { diff } from '../../../../src/service/register/diff/diff.ts';
import { companyOf, entry, type Json, OPTIONS, TODAY } from '../documents.ts';

const found = (before: Json, after: Json, days = [TODAY, TODAY]) =>
  diff(companyOf(before, days[0]), companyOf(after, days[1]), OPTIONS);
const life = (...periods: readonly (readonly [string, string | null])[]): Json => ({
  livsforloeb: periods.map(([from, to]) => entry({}, from, to)),
});

describe('a life', () => {
  test('ends when its last day has come, and that is reported once', () => {
    const ending = life(['2010-01-01', '2026-03-10']);
    expect(found(life(['2010-01-01', null]), ending)).toEqual({ lifetimeEnded: { date: '2026-03-10T00:00:00' } });
    expect(found(ending, ending)).toEqual({});
    expect(found(life(['2010-01-01', null]), life(['2010-01-01', '2026-03-11']))).toEqual({});
  });

  test('that ends on a future day ends on that day, without another document', () => {
    const ending = life(['2010-01-01', '2026-03-11']);
    expect(found(ending, ending, ['2026-03-10', '2026-03-11'])).toEqual({
      lifetimeEnded: { date: '2026-03-11T00:00:00' },
    });
  });

  test('starts when it begins', () => {
    const coming = life(['2026-04-01', null]);
    expect(found(coming, coming, ['2026-03-31', '2026-04-01'])).toEqual({
      lifetimeStarted: { date: '2026-04-01T00:00:00' },
    });
  });

  test('can begin a second time', () => {
    const again = life(['2026-03-01', null], ['2010-01-01', '2020-12-31']);
    expect(found(life(['2010-01-01', '2020-12-31']), again)).toEqual({
      lifetimeStarted: { date: '2026-03-01T00:00:00' },
    });
    expect(companyOf(again).life.value).toMatchObject({
      started: '2026-03-01T00:00:00',
      ended: null,
      founded: '2010-01-01T00:00:00',
    });
  });

  test('continues if its end is withdrawn', () => {
    expect(found(life(['2010-01-01', '2025-12-31']), life(['2010-01-01', null]))).toEqual({
      lifetimeStarted: { date: '2010-01-01T00:00:00' },
    });
  });

  test('that began and ended between two documents is reported completely', () => {
    expect(
      found(life(['2010-01-01', '2020-12-31']), life(['2010-01-01', '2020-12-31'], ['2022-01-01', '2023-01-01'])),
    ).toEqual({
      lifetimeStarted: { date: '2022-01-01T00:00:00' },
      lifetimeEnded: { date: '2023-01-01T00:00:00' },
    });
  });
});

describe('the status', () => {
  const listed = (...entries: readonly (readonly [string, string, string | null])[]): Json => ({
    virksomhedsstatus: entries.map(([status, from, to]) => entry({ status }, from, to)),
  });
  const composed = (sammensatStatus: string | null): Json => ({ virksomhedMetadata: { sammensatStatus } });

  test('is the entry that is valid today', () => {
    const before = { ...listed(['NORMAL', '2010-01-01', null]), ...composed('NORMAL') };
    const after = {
      ...listed(['UNDER KONKURS', '2026-03-01', null], ['NORMAL', '2010-01-01', '2026-02-28']),
      ...composed('UNDER KONKURS'),
    };
    expect(found(before, after)).toEqual({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } });
  });

  test('that comes later begins on its day, although the composed one has it already', () => {
    const coming = {
      ...listed(['NORMAL', '2010-01-01', '2026-03-31'], ['UNDER KONKURS', '2026-04-01', null]),
      ...composed('UNDER KONKURS'),
    };
    expect(companyOf(coming).status.value).toBe('NORMAL');
    expect(companyOf(coming, '2026-04-01').status.value).toBe('UNDER KONKURS');
  });

  test('is the composed one if there is no list, as for partnerships and funds', () => {
    expect(found(composed('Aktiv'), composed('Ophørt'))).toEqual({ status: { before: 'Aktiv', after: 'Ophørt' } });
  });

  test('is the composed one if it has what the list lacks', () => {
    const list = listed(['NORMAL', '2010-01-01', null]);
    expect(companyOf({ ...list, ...composed('UNDER TVANGSOPLØSNING') }).status.value).toBe('UNDER TVANGSOPLØSNING');
  });

  test('is spelled as in the list if the composed one leaves out blanks', () => {
    const list = listed(['UNDER KONKURS', '2010-01-01', null]);
    expect(companyOf({ ...list, ...composed('UNDERKONKURS') }).status.value).toBe('UNDER KONKURS');
  });

  test('of the gazette is stored, and used if the register has no other', () => {
    const status = [
      entry({ kreditoplysningkode: 1, kreditoplysningtekst: 'Konkurs', statuskode: 1, statustekst: 'Dekret' }),
    ];
    expect(companyOf({ status }).credit.value).toEqual({
      creditCode: 1,
      creditText: 'Konkurs',
      statusCode: 1,
      statusText: 'Dekret',
    });
    expect(companyOf({ status }).status.value).toBe('Konkurs');
    expect(companyOf({ status, ...composed('Aktiv') }).status.value).toBe('Aktiv');
  });

  test('remains after the company has ended', () => {
    const over = { ...life(['2010-01-01', '2025-06-30']), ...listed(['OPLØST EFTER KONKURS', '2025-07-01', null]) };
    expect(companyOf(over).status.value).toBe('OPLØST EFTER KONKURS');
    const last = { ...life(['2010-01-01', '2025-06-30']), ...listed(['TVANGSOPLØST', '2025-06-30', '2025-06-30']) };
    expect(companyOf(last).status.value).toBe('TVANGSOPLØST');
  });
});
