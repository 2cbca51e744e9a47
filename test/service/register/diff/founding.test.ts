import { describe, expect, test } from 'vitest';
import { changesOf } from '../../../../src/service/register/diff/diff.ts';
import {
  companyOf,
  ENTITY,
  entry,
  firm,
  type Json,
  name,
  OPTIONS,
  owns,
  person,
  relation,
  role,
  TODAY,
} from '../documents.ts';

const ANNA = person(4_999_000_002, 'Anna Testesen');
const OWNER = firm(95_000_027, 'Ejer Holding ApS');
const FOUNDER = role('STIFTERE', 'Stiftere', 'STIFTERE');
const company = { entityId: ENTITY, name: 'Prøvelund Møbler ApS', type: 'Company' };

const born = (from: string, registered: string, more: Json = {}): Json => ({
  navne: [name('Prøvelund Møbler ApS', from, null, `${registered}T10:00:00.000+01:00`)],
  livsforloeb: [entry({}, from, null, `${registered}T10:00:00.000+01:00`)],
  ...more,
});
const told = (before: Json | undefined, after: Json, newWithinDays = 30) =>
  changesOf(before === undefined ? undefined : companyOf(before), companyOf(after), { ...OPTIONS, newWithinDays });
const events = (changes: ReturnType<typeof told>) =>
  changes.map(({ entity, updates }) => `${entity} ${Object.keys(updates).join()}`);

describe('a company that is seen for the first time', () => {
  test('causes no change, however much it states', () => {
    const old = born('2010-01-01', '2010-01-05', { deltagerRelation: [relation(OWNER, owns('1.0'))] });
    expect(told(undefined, old)).toEqual([]);
  });

  test('is new if it began and was registered a short time ago', () => {
    const loaded = { sidstIndlaest: '2026-03-03T12:00:00.000+01:00' };
    expect(told(undefined, born('2026-03-01', '2026-03-03', loaded))).toMatchObject([
      { entity: ENTITY, timestamp: '2026-03-03T09:00:00.000Z', updates: { newCompany: { entity: company } } },
    ]);
    expect(events(told(undefined, born('2026-02-08', '2026-02-08')))).toEqual([`${ENTITY} newCompany`]);
    expect(events(told(undefined, born('2026-02-07', '2026-02-07')))).toEqual([]);
    expect(events(told(undefined, born('2026-03-01', '2026-03-03'), 5))).toEqual([]);
  });

  test('is not new if only one of the two is recent', () => {
    expect(told(undefined, born('2019-01-01', '2026-03-03'))).toEqual([]);
    expect(told(undefined, born('2026-03-01', '2019-01-01'))).toEqual([]);
  });

  test('is not new if it only began again', () => {
    const again = { livsforloeb: [entry({}, '2010-01-01', '2020-01-01', null), entry({}, '2026-03-01', null, null)] };
    expect(told(undefined, { ...born('2026-03-01', '2026-03-01'), ...again })).toEqual([]);
  });

  test('is new before it begins', () => {
    expect(events(told(undefined, born('2026-04-01', '2026-03-03')))).toEqual([`${ENTITY} newCompany`]);
  });

  test('is new by its founding date if it has no life', () => {
    const bare = { livsforloeb: [], navne: [], virksomhedMetadata: { stiftelsesDato: '2026-03-01' } };
    expect(events(told(undefined, bare))).toEqual([`${ENTITY} newCompany`]);
    expect(events(told(undefined, { ...bare, virksomhedMetadata: {} }))).toEqual([]);
  });
});

describe('a subsidiary', () => {
  const owned = born('2026-03-01', '2026-03-03', {
    deltagerRelation: [relation(OWNER, owns('0.6667'), FOUNDER), relation(ANNA, owns('0.25'))],
  });

  test('is reported to the companies that own it, with its own name and their share', () => {
    const changes = told(undefined, owned);
    expect(events(changes)).toEqual([`${ENTITY} newCompany`, 'CVR-1-95000027 subsidiaryFounded']);
    expect(changes[1]).toMatchObject({
      name: 'Ejer Holding ApS',
      updates: { subsidiaryFounded: { ownership: { ...company, ownership: '66.67-90' } } },
    });
  });

  test('is reported to the founders if no company owns it', () => {
    const founded = born('2026-03-01', '2026-03-03', { deltagerRelation: [relation(OWNER, FOUNDER)] });
    const [, change] = told(undefined, founded);
    expect(change?.updates.subsidiaryFounded?.ownership).toEqual({ ...company, ownership: null });
  });

  test('is reported when its owner is registered later, while it is new, and only then', () => {
    const bare = born('2026-03-01', '2026-03-03');
    expect(events(told(bare, owned))).toContain('CVR-1-95000027 subsidiaryFounded');
    expect(events(told(bare, owned, 5))).not.toContain('CVR-1-95000027 subsidiaryFounded');
    expect(events(told(owned, owned))).toEqual([]);
  });

  test('is reported once: its id does not depend on the document', () => {
    const later = { ...owned, sidstIndlaest: '2026-03-09T12:00:00.000+01:00' };
    const ids = (after: Json) => told(undefined, after).map(({ id }) => id);
    expect(ids(later)).toEqual(ids(owned));
    expect(new Set(ids(owned)).size).toBe(2);
  });

  test('that has already ended is not reported', () => {
    const over = { ...owned, livsforloeb: [entry({}, '2026-03-01', TODAY, '2026-03-03T10:00:00.000+01:00')] };
    expect(told(undefined, over)).toEqual([]);
  });
});
