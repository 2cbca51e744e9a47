import { describe, expect, test } from 'vitest';
import { readDocument } from '../../../../src/service/register/document/document.ts';
import {
  AT,
  address,
  attribute,
  companyOf,
  contact,
  document,
  entry,
  industry,
  name,
  organisation,
  person,
  read,
  relation,
  role,
  value,
} from '../documents.ts';

describe('what is valid today', () => {
  const old = name('Gammelt Navn ApS', '2010-01-01', '2019-12-31');
  const now = name('Nyt Navn ApS', '2020-01-01', null);

  test('is found by period, in any order of the list', () => {
    expect(companyOf({ navne: [old, now] }).name).toBe('Nyt Navn ApS');
    expect(companyOf({ navne: [now, old] }).name).toBe('Nyt Navn ApS');
  });

  test('includes both ends of its period', () => {
    const list = [name('Først ApS', '2020-01-01', '2020-06-30'), name('Siden ApS', '2020-07-01', null)];
    expect(companyOf({ navne: list }, '2020-06-30').name).toBe('Først ApS');
    expect(companyOf({ navne: list }, '2020-07-01').name).toBe('Siden ApS');
  });

  test('may have no beginning', () => {
    expect(companyOf({ navne: [name('Altid ApS', null, null)] }).name).toBe('Altid ApS');
  });

  test('is what was registered last if two overlap', () => {
    const early = name('Tidlig ApS', '2020-01-01', null, '2020-01-02T09:00:00.000+01:00');
    const late = name('Sen ApS', '2019-01-01', null, '2021-05-02T09:00:00.000+02:00');
    expect(companyOf({ navne: [early, late] }).name).toBe('Sen ApS');
    expect(companyOf({ navne: [late, early] }).name).toBe('Sen ApS');
  });

  test('is found by instant and not by text if register times are written in two ways', () => {
    const local = name('Lokal ApS', null, null, '2021-05-02T01:30:00.000+02:00');
    const zulu = name('Zulu ApS', null, null, '2021-05-02T00:15:00.000Z');
    expect(companyOf({ navne: [local, zulu] }).name).toBe('Zulu ApS');
  });

  test('is what began last if two overlap that were registered together', () => {
    const list = [name('Før ApS', '2020-01-01'), name('Efter ApS', '2021-01-01')];
    expect(companyOf({ navne: list }).name).toBe('Efter ApS');
    expect(companyOf({ navne: list.toReversed() }).name).toBe('Efter ApS');
  });

  test('has one answer for two entries that differ only in their value', () => {
    const [a, b] = [name('A ApS'), name('B ApS')];
    expect(companyOf({ navne: [a, b] }).name).toBe(companyOf({ navne: [b, a] }).name);
  });

  test('is nothing if all has ended', () => {
    const phone = { ...contact('11000000'), periode: { gyldigFra: '2020-01-01', gyldigTil: '2020-12-31' } };
    expect(companyOf({ telefonNummer: [phone] }).phoneNumber).toEqual({ value: null, at: AT });
  });
});

describe('what lies ahead', () => {
  test('is not yet valid, and names its day', () => {
    const { company, aheadOn } = read({
      beliggenhedsadresse: [address({}, '2020-01-01', '2026-04-30'), address({ husnummerFra: 9 }, '2026-05-01')],
    });
    expect(company.address.value?.houseNumberFrom).toBe(4);
    expect(aheadOn).toBe('2026-05-01');
    const later = companyOf({ beliggenhedsadresse: [address({ husnummerFra: 9 }, '2026-05-01')] }, '2026-05-01');
    expect(later.address.value?.houseNumberFrom).toBe(9);
  });

  test('is the earliest of all days on which something begins or has ended', () => {
    const { aheadOn } = read({
      hovedbranche: [industry('310100', '2027-01-01')],
      deltagerRelation: [
        relation(
          person(4_999_000_002, 'Prøve Testesen'),
          role('LEDELSESORGAN', 'Direktion', 'DIREKTØR', '2020-01-01', '2026-03-31'),
        ),
      ],
    });
    expect(aheadOn).toBe('2026-04-01');
  });

  test('includes what the register announces', () => {
    expect(read({ naermesteFremtidigeDato: '2026-03-20' }).aheadOn).toBe('2026-03-20');
    expect(read({ naermesteFremtidigeDato: '2026-03-10' }).aheadOn).toBeNull();
  });

  test('is nothing in most documents, and no invalid day', () => {
    expect(read().aheadOn).toBeNull();
    expect(read({ navne: [name('Prøve ApS', '2020-01-01', '9999-12-31')] }).aheadOn).toBeNull();
    expect(read({ navne: [name('Prøve ApS', 'snart nok nu', 'en anden dag')] }).aheadOn).toBeNull();
    expect(read({ navne: [name('Prøve ApS', '2026-99-99', '2026-13-45')] }).aheadOn).toBeNull();
  });

  test('leaves out what is never reported', () => {
    const alien = organisation('HVIDVASK', 'Registret', attribute('FUNKTION', value('X', '2027-01-01')));
    expect(read({ deltagerRelation: [relation(person(4_999_000_002, 'Prøve'), alien)] }).aheadOn).toBeNull();
  });
});

describe('a company that has ended', () => {
  const ended = {
    livsforloeb: [entry({}, '2010-01-01', '2025-06-30')],
    navne: [name('Forbi ApS', '2010-01-01', '2025-06-30')],
    beliggenhedsadresse: [
      address({}, '2012-01-01', '2025-06-30'),
      address({ husnummerFra: 1 }, '2010-01-01', '2011-12-31'),
    ],
    deltagerRelation: [
      relation(
        person(4_999_000_002, 'Prøve Testesen'),
        role('LEDELSESORGAN', 'Direktion', 'DIREKTØR', '2010-01-01', '2025-06-30'),
      ),
    ],
  };

  test('keeps the name and the address it had on its last day', () => {
    const company = companyOf(ended);
    expect(company.names.value).toBe('Forbi ApS');
    expect(company.address.value?.houseNumberFrom).toBe(4);
  });

  test('has no members in its bodies', () => {
    expect(companyOf(ended).bodies.management.members).toEqual([]);
    expect(companyOf(ended, '2025-06-30').bodies.management.members).toHaveLength(1);
  });

  test('ends on its last day', () => {
    expect(companyOf(ended, '2025-06-29').life.value.ended).toBeNull();
    expect(read(ended, '2025-06-29').aheadOn).toBe('2025-06-30');
    expect(companyOf(ended, '2025-06-30').life.value.ended).toBe('2025-06-30T00:00:00');
  });
});

test('a company that begins later is read as on its first day, but has not begun', () => {
  const { company, aheadOn } = read({
    livsforloeb: [entry({}, '2026-04-01')],
    navne: [name('Snart ApS', '2026-04-01')],
  });
  expect(company.names.value).toBe('Snart ApS');
  expect(company.life.value).toMatchObject({ started: null, ended: null, founded: '2026-04-01T00:00:00' });
  expect(aheadOn).toBe('2026-04-01');
});

test('a company without any valid name has the latest name in the register, or else its number', () => {
  const bare = { navne: [], virksomhedMetadata: { nyesteNavn: { navn: 'Seneste ApS' } } };
  expect(companyOf(bare).name).toBe('Seneste ApS');
  expect(companyOf({ navne: [], virksomhedMetadata: null }).name).toBe('CVR-1-95000019');
});

test('the loading time is stated in UTC', () => {
  const reading = readDocument(document({ sidstIndlaest: '2026-07-02T12:00:00.000+02:00' }), '2026-07-03');
  expect(reading).toMatchObject({ kind: 'company', cvr: '95000019', loadedAt: '2026-07-02T10:00:00.000Z' });
});
