import { describe, expect, test } from 'vitest';
import { EVENT_NAMES } from '../../../../src/protocol/events.ts';
import type { Updates } from '../../../../src/protocol/payload.ts';
import { diff } from '../../../../src/service/register/diff/diff.ts';
import type { DiffOptions } from '../../../../src/service/register/diff/differ.ts';
import {
  address,
  attribute,
  companyOf,
  contact,
  entry,
  industry,
  type Json,
  name,
  OPTIONS,
  TODAY,
  value,
} from '../documents.ts';

const found = (before: Json, after: Json, options: Partial<DiffOptions> = {}, days = [TODAY, TODAY]): Updates =>
  diff(companyOf(before, days[0]), companyOf(after, days[1]), { ...OPTIONS, ...options });

const LATER = '2026-03-02T10:00:00.000+01:00';

describe('texts', () => {
  test.each([
    ['name', { navne: [name('Før ApS')] }, { navne: [name('Efter ApS')] }, { before: 'Før ApS', after: 'Efter ApS' }],
    [
      'purpose',
      attributes('FORMÅL', 'Handel.'),
      attributes('FORMÅL', 'Fiskeri.'),
      { before: 'Handel.', after: 'Fiskeri.' },
    ],
    ['powerToBind', attributes('TEGNINGSREGEL', 'A'), attributes('TEGNINGSREGEL', 'B'), { before: 'A', after: 'B' }],
    ['email', { elektroniskPost: [contact('a@b.example')] }, {}, { before: 'a@b.example', after: null }],
    ['fax', {}, { telefaxNummer: [contact('11000001')] }, { before: null, after: '11000001' }],
    ['phoneNumber', { telefonNummer: [contact('1')] }, { telefonNummer: [contact('2')] }, { before: '1', after: '2' }],
    [
      'website',
      { hjemmeside: [contact('a.example')] },
      { hjemmeside: [contact('b.example')] },
      { before: 'a.example', after: 'b.example' },
    ],
  ] as const)('%s', (event, before, after, expected) => {
    expect(found(before, after)).toEqual({ [event]: expected });
  });

  test('a contact that becomes secret is removed, and a secret one is never seen', () => {
    const open = { telefonNummer: [contact('11000001')] };
    const secret = { telefonNummer: [contact('11000001', true)] };
    expect(found(open, secret)).toEqual({ phoneNumber: { before: '11000001', after: null } });
    expect(found({}, secret)).toEqual({});
  });

  test('alternate names are a set', () => {
    const [a, b, c] = ['A ApS', 'B ApS', 'C ApS'].map((each) => name(each));
    expect(found({ binavne: [a, b] }, { binavne: [c, b] })).toEqual({
      altNames: { added: ['C ApS'], removed: ['A ApS'] },
    });
    expect(found({ binavne: [a, b] }, { binavne: [b, a] })).toEqual({});
  });
});

describe('the same content registered again is no change', () => {
  test.each<[string, Json, Json]>([
    ['a name', { navne: [name('X ApS')] }, { navne: [name('X ApS', '2025-01-01', null, LATER)] }],
    [
      'an address that was validated',
      { beliggenhedsadresse: [address({})] },
      { beliggenhedsadresse: [address({ adresseId: 'b', sidstValideret: LATER }, '2026-01-01', null, LATER)] },
    ],
    ['an industry', { hovedbranche: [industry('1')] }, { hovedbranche: [industry('1', '2026-01-01', null, LATER)] }],
    ['an attribute', attributes('KAPITAL', '40000.00'), attributes('KAPITAL', '40000', LATER)],
    ['the document', {}, { sidstIndlaest: LATER, sidstOpdateret: LATER, samtId: 9 }],
  ])('%s', (_, before, after) => expect(found(before, after)).toEqual({}));
});

describe('facts', () => {
  test('an address', () => {
    const { address: moved } = found(
      { beliggenhedsadresse: [address({})] },
      {
        beliggenhedsadresse: [address({ husnummerFra: '12', etage: '2', bogstavFra: 'B' }, '2026-03-01', null, LATER)],
      },
    );
    expect(moved?.before).toMatchObject({ houseNumberFrom: 4, streetName: 'Prøvegade', postalCode: 8000 });
    expect(moved?.after).toMatchObject({
      houseNumberFrom: 12,
      floor: '2',
      houseLetterFrom: 'B',
      municipality: { code: 751, name: 'AARHUS' },
      period: { from: '2026-03-01T00:00:00', to: null, isNow: true },
      lastUpdated: '2026-03-02T10:00:00',
    });
  });

  test('an address abroad has no municipality and a free text', () => {
    const abroad = { landekode: 'SE', kommune: null, fritekst: 'Provgatan 3\n21120 Malmö', postnummer: null };
    const { address: moved } = found({}, { beliggenhedsadresse: [address(abroad)] });
    expect(moved).toMatchObject({
      before: null,
      after: { countryCode: 'SE', municipality: null, freeText: 'Provgatan 3\n21120 Malmö', postalCode: null },
    });
  });

  test('an industry, by code and by text', () => {
    const reworded = { ...industry('310100'), branchetekst: 'Møbler' };
    expect(found({ hovedbranche: [industry('310100')] }, { hovedbranche: [reworded] }).industry).toMatchObject({
      before: { industryCode: '310100', industryText: 'Branche 310100' },
      after: { industryCode: '310100', industryText: 'Møbler' },
    });
  });

  test('secondary industries are a set of codes: another order is no change', () => {
    const before = { bibranche1: [industry('1')], bibranche2: [industry('2')] };
    expect(found(before, { bibranche1: [industry('2')], bibranche3: [industry('1')] })).toEqual({});
    const { altIndustries } = found(before, { bibranche1: [industry('3')], bibranche2: [industry('2')] });
    expect(altIndustries?.added.map((each) => each.industryCode)).toEqual(['3']);
    expect(altIndustries?.removed.map((each) => each.industryCode)).toEqual(['1']);
  });

  test('a recoding by the register changes no industry, in any place', () => {
    const before = {
      hovedbranche: [industry('620100')],
      bibranche1: [industry('631100')],
      bibranche2: [industry('5')],
    };
    const after = {
      hovedbranche: [industry('621000', '2025-01-01')],
      bibranche1: [industry('631000', '2025-01-01')],
      bibranche2: [industry('6', '2026-02-01')],
    };
    const changes: unknown[] = [];
    const updates = found(before, after, {
      isRecoded: (change) => {
        changes.push(change);
        return change.from === '2025-01-01';
      },
    });
    expect(Object.keys(updates)).toEqual(['altIndustries']);
    expect(updates.altIndustries?.added.map((each) => each.industryCode)).toEqual(['6']);
    expect(updates.altIndustries?.removed.map((each) => each.industryCode)).toEqual(['5']);
    expect(changes).toContainEqual({ before: '620100', after: '621000', from: '2025-01-01' });
  });

  test('a date of bylaws is a day without time zone', () => {
    expect(found(attributes('VEDTÆGT_SENESTE', '2020-10-18'), attributes('VEDTÆGT_SENESTE', '2026-02-01'))).toEqual({
      bylawsChangedDate: { before: '2020-10-18T00:00:00', after: '2026-02-01T00:00:00' },
    });
  });

  test('capital is an amount with its currency', () => {
    const before = { attributter: [attribute('KAPITAL', value('40000.00')), attribute('KAPITALVALUTA', value('DKK'))] };
    const after = {
      attributter: [
        attribute('KAPITALVALUTA', value('EUR')),
        attribute('KAPITAL', value('40000.00', '2020-01-01', '2026-02-28'), value('125000.50', '2026-03-01')),
        attribute('KAPITALKLASSER', value('true')),
        attribute('KAPITAL_DELVIST', value('false')),
      ],
    };
    expect(found(before, after)).toEqual({
      capital: {
        before: { value: 40_000, currency: 'DKK', hasClasses: null, isPartial: null },
        after: { value: 125_000.5, currency: 'EUR', hasClasses: true, isPartial: false },
      },
    });
  });

  test('an attribute whose type occurs twice is one list', () => {
    const twice = [attribute('FORMÅL', value('Før.', '2010-01-01', '2019-12-31')), attribute('FORMÅL', value('Nu.'))];
    expect(companyOf({ attributter: twice }).purpose.value).toBe('Nu.');
    expect(companyOf({ attributter: twice.toReversed() }).purpose.value).toBe('Nu.');
  });

  test('a form', () => {
    const form = (virksomhedsformkode: number, kortBeskrivelse: string) => ({
      virksomhedsform: [
        entry({ virksomhedsformkode, kortBeskrivelse, langBeskrivelse: 'Lang', ansvarligDataleverandoer: 'E&S' }),
      ],
    });
    expect(found(form(80, 'APS'), form(60, 'A/S')).form).toMatchObject({
      before: { companyFormCode: 80, shortDescription: 'APS' },
      after: { companyFormCode: 60, shortDescription: 'A/S', longDescription: 'Lang', responsibleDataProvider: 'E&S' },
    });
  });

  test('commercial protection', () => {
    expect(found({ reklamebeskyttet: false }, { reklamebeskyttet: true })).toEqual({
      commercialProtection: { before: false, after: true },
    });
  });
});

describe('employees', () => {
  const month = (antalAnsatte: number, maaned: number) => ({
    erstMaanedsbeskaeftigelse: [{ aar: 2026, maaned, antalAnsatte, sidstOpdateret: LATER }],
  });

  test('a new month is a change only if the number differs', () => {
    expect(found(month(5, 1), month(7, 2))).toEqual({
      monthlyEmployeeCount: { year: 2026, month: 2, before: 5, after: 7 },
    });
    expect(found(month(5, 1), month(5, 2))).toEqual({});
    expect(found({}, month(5, 1))).toEqual({ monthlyEmployeeCount: { year: 2026, month: 1, before: null, after: 5 } });
  });

  test('withdrawn figures are replaced by the remaining one', () => {
    expect(found(month(5, 2), month(7, 1))).toMatchObject({ monthlyEmployeeCount: { month: 1, before: 5, after: 7 } });
    expect(found(month(5, 2), {})).toEqual({});
  });

  test('quarters and years are reported as intervals', () => {
    const at = (kvartal: number, code: string) => ({
      kvartalsbeskaeftigelse: [{ aar: 2018, kvartal, intervalKodeAntalAnsatte: code }],
      aarsbeskaeftigelse: [{ aar: 2017, intervalKodeAntalAnsatte: code }],
    });
    expect(found(at(1, 'ANTAL_2_4'), at(2, 'ANTAL_5_9'))).toEqual({
      quarterlyEmployees: { year: 2018, quarter: 2, before: '2-4', after: '5-9' },
      yearlyEmployees: { year: 2017, before: '2-4', after: '5-9' },
    });
  });
});

test('there is no change without an earlier snapshot', () => {
  expect(diff(undefined, companyOf(), OPTIONS)).toEqual({});
});

test('changes are in the order of the specification', () => {
  const updates = found(
    { navne: [name('A')], telefonNummer: [contact('1')] },
    { reklamebeskyttet: true, telefonNummer: [contact('2')], navne: [name('B')] },
  );
  expect(Object.keys(updates)).toEqual(EVENT_NAMES.filter((event) => event in updates));
});

function attributes(type: string, vaerdi: string, at: string | null = null): Json {
  return { attributter: [attribute(type, value(vaerdi, '2020-01-01', null, at))] };
}
