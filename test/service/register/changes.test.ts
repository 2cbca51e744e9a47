import { describe, expect, test } from 'vitest';
import { describeUpdates } from '../../../src/protocol/describe/describe.ts';
import { ownership } from '../../../src/service/news/wording/ownership.ts';
import { relations } from '../../../src/service/news/wording/relations.ts';
import { changesOf } from '../../../src/service/register/diff/diff.ts';
import type { DiffOptions, MergerParty } from '../../../src/service/register/diff/differ.ts';
import {
  companyOf,
  contact,
  ENTITY,
  entry,
  firm,
  type Json,
  name,
  OPTIONS,
  organisation,
  owns,
  person,
  relation,
  role,
  TODAY,
  trulyOwns,
  value,
} from './documents.ts';

const ANNA = person(4_999_000_002, 'Anna Testesen');
const BO = person(4_999_000_003, 'Bo Opdigtsen');
const OWNER = firm(95_000_027, 'Ejer Holding ApS');
const BOARD = role('LEDELSESORGAN', 'Bestyrelse', 'BESTYRELSESMEDLEM');
const DIRECTOR = role('LEDELSESORGAN', 'Direktion', 'DIREKTØR');

const told = (before: Json | undefined, after: Json, options: Partial<DiffOptions> = {}, today = TODAY) =>
  changesOf(before === undefined ? undefined : companyOf(before, today), companyOf(after, today), {
    ...OPTIONS,
    ...options,
    today,
  });
const people = (...deltagerRelation: readonly Json[]): Json => ({ deltagerRelation });
const company = { entityId: ENTITY, name: 'Prøvelund Møbler ApS', type: 'Company' };

describe('a change', () => {
  const at = (before: string, after: string): [Json, Json] => [
    { navne: [name('Før ApS', '2020-01-01', null, before)] },
    { navne: [name('Efter ApS', '2020-01-01', null, after)] },
  ];

  test('has the time at which the register last touched what changed, in UTC', () => {
    const [before, after] = at('2020-01-02T09:30:00.000+01:00', '2026-02-28T23:30:00.000+01:00');
    const [change] = told(before, { ...after, telefonNummer: [] });
    expect(change).toMatchObject({
      entity: ENTITY,
      name: 'Efter ApS',
      kind: 'register',
      timestamp: '2026-02-28T22:30:00.000Z',
      updates: { name: { before: 'Før ApS', after: 'Efter ApS' } },
    });
  });

  test('is never older than what it replaces', () => {
    const [before, after] = at('2026-03-01T10:00:00.000+01:00', '2026-02-01T10:00:00.000+01:00');
    expect(told(before, after)[0]?.timestamp).toBe('2026-03-01T09:00:00.000Z');
  });

  test('of something removed has the time of the entry that ended', () => {
    const over = {
      ...contact('1'),
      periode: { gyldigFra: null, gyldigTil: '2026-03-01' },
      sidstOpdateret: '2026-03-02T08:00:00.000+01:00',
    };
    expect(told({ telefonNummer: [contact('1')] }, { telefonNummer: [over] })[0]?.timestamp).toBe(
      '2026-03-02T07:00:00.000Z',
    );
  });

  test('of something without a time has the document’s, and without any the time it was loaded', () => {
    expect(told({ reklamebeskyttet: false }, { reklamebeskyttet: true })[0]?.timestamp).toBe(
      '2026-03-01T11:00:00.000Z',
    );
    const bare = { sidstOpdateret: null, reklamebeskyttet: true };
    expect(told({ reklamebeskyttet: false }, bare)[0]?.timestamp).toBe('2026-03-02T11:00:00.000Z');
  });

  test('that is found again has the same id', () => {
    const [before, after] = at('2020-01-02T09:30:00.000+01:00', '2026-02-28T23:30:00.000+01:00');
    expect(told(before, after)[0]?.id).toBe(told(before, after)[0]?.id);
  });

  test('that is reversed and made again has three ids', () => {
    const [a, b] = at('2020-01-02T09:30:00.000+01:00', '2020-01-02T09:30:00.000+01:00');
    const loaded = [a, b, a, b].map((each, day) => ({
      ...each,
      sidstIndlaest: `2026-03-0${day + 1}T12:00:00.000+01:00`,
    }));
    const ids = loaded.slice(1).map((after, index) => told(loaded[index], after)[0]?.id);
    expect(new Set(ids).size).toBe(3);
  });

  test('and its reversal by periods of one document have different ids', () => {
    const navne = [
      name('A ApS', '2020-01-01', '2026-03-10'),
      name('B ApS', '2026-03-11', '2026-03-11'),
      name('A ApS', '2026-03-12', '2026-03-12'),
      name('B ApS', '2026-03-13'),
    ];
    const days = ['2026-03-10', '2026-03-11', '2026-03-12', '2026-03-13'].map((day) => companyOf({ navne }, day));
    const ids = days.slice(1).flatMap((after, index) => changesOf(days[index], after, OPTIONS).map(({ id }) => id));
    expect(new Set(ids).size).toBe(3);
  });

  test('without a difference is no change', () => {
    expect(told({}, { sidstIndlaest: '2026-03-09T12:00:00.000+01:00' })).toEqual([]);
  });

  test('between two companies throws', () => {
    expect(() => told({}, { cvrNummer: 95_000_027 })).toThrow('two companies');
  });
});

describe('people', () => {
  test('get one change with all that concerns them', () => {
    const changes = told(people(), people(relation(ANNA, BOARD, DIRECTOR), relation(OWNER, BOARD)));
    expect(changes.map(({ entity }) => entity)).toEqual([ENTITY, 'CVR-3-4999000002']);
    expect(changes[1]).toMatchObject({
      name: 'Anna Testesen',
      updates: { board: { added: [company], removed: [] }, management: { added: [company], removed: [] } },
    });
    expect(changes[0]?.updates.board?.added.map(({ type }) => type)).toEqual(['Company', 'Person']);
  });

  test('who leave get a change with the name they had', () => {
    const [, left] = told(people(relation(ANNA, BOARD), relation(BO, BOARD)), people(relation(BO, BOARD)));
    expect(left).toMatchObject({
      entity: 'CVR-3-4999000002',
      name: 'Anna Testesen',
      updates: { board: { added: [], removed: [company] } },
    });
  });

  test('whose share changes get the company and the new share, beside the old one', () => {
    const before = people(relation(ANNA, owns('0.1'), trulyOwns('0.12', '0.5')), relation(OWNER, owns('0.9')));
    const after = people(relation(ANNA, owns('0.25'), trulyOwns('0.3333', '0.5')), relation(OWNER, owns('0.6667')));
    const [own, hers] = told(before, after);
    expect(own?.updates.ownership?.changed).toEqual([
      { entityId: 'CVR-1-95000027', name: 'Ejer Holding ApS', type: 'Company', ownership: '66.67-90' },
      { entityId: 'CVR-3-4999000002', name: 'Anna Testesen', type: 'Person', ownership: '25-33.33' },
    ]);
    expect(own?.formerShares).toEqual({
      'CVR-1-95000027': '90-100',
      'CVR-3-4999000002': '10-15',
      'trueOwnership CVR-3-4999000002': '12',
    });
    expect(hers?.updates).toEqual({
      ownership: { added: [], removed: [], changed: [{ ...company, ownership: '25-33.33' }] },
      trueOwnership: { added: [], removed: [], changed: [{ ...company, ownership: '33.33' }] },
    });
    expect(hers?.formerShares).toEqual({ [ENTITY]: '10-15', [`trueOwnership ${ENTITY}`]: '12' });
  });

  test('who keep their share get no change if others change theirs', () => {
    const before = people(relation(ANNA, owns('0.1')), relation(BO, owns('0.25')));
    const after = people(relation(ANNA, owns('0.1')), relation(BO, owns('0.5')));
    const changes = told(before, after);
    expect(changes.map(({ entity }) => entity)).toEqual([ENTITY, 'CVR-3-4999000003']);
    expect(changes[0]?.updates.ownership?.changed).toHaveLength(1);
  });

  test('who stay, with another role, are no change', () => {
    const chair = role('LEDELSESORGAN', 'Bestyrelse', 'FORMAND');
    expect(told(people(relation(ANNA, BOARD)), people(relation(ANNA, chair)))).toEqual([]);
  });

  test('who stay, with a new name, leave under the old one and join under the new one, without news', () => {
    const renamed = person(4_999_000_002, 'Anna Nytnavn');
    const before = people(relation(ANNA, BOARD), relation(BO, BOARD, owns('0.5')));
    const after = people(relation(renamed, BOARD), relation(person(4_999_000_003, 'Bo Nytnavn'), BOARD, owns('0.5')));
    const [own, ...others] = told(before, after);
    const named = (name: string, number: number) => ({ entityId: `CVR-3-499900000${number}`, name, type: 'Person' });
    expect(own?.updates).toMatchObject({
      board: {
        added: [named('Anna Nytnavn', 2), named('Bo Nytnavn', 3)],
        removed: [named('Anna Testesen', 2), { entityId: 'CVR-3-4999000003' }],
      },
      ownership: { added: [], removed: [], changed: [{ ...named('Bo Nytnavn', 3), ownership: '50-66.67' }] },
    });
    expect(others).toEqual([]);
    if (own === undefined) throw new Error('nothing was told');
    expect([...relations, ownership].map((draft) => draft(own, { pressProvider: '', gazetteProvider: '' }))).toEqual(
      Array(5).fill(undefined),
    );
    const lines = describeUpdates(own.updates, { formerShares: own.formerShares }).flatMap((one) => one.lines);
    expect(lines).toContainEqual({ label: 'Nyt navn', before: null, after: 'Bo Nytnavn (50-66,67 %)' });
    expect(lines).toContainEqual({ label: 'Nyt navn', before: 'Anna Testesen', after: 'Anna Nytnavn' });
    expect(
      told(after, people(relation({ ...renamed, navne: [] }, BOARD), relation(BO, BOARD, owns('0.5'))))[0]?.updates
        .board?.added,
    ).toHaveLength(1);
  });
});

describe('production units', () => {
  const units = (...numbers: readonly number[]): Json => ({ penheder: numbers.map((pNummer) => entry({ pNummer })) });

  test('that come and go are reported one by one, as the format names one', () => {
    const changes = told(units(1_990_000_001), units(1_990_000_002, 1_990_000_003), {
      nameOf: (unit) => (unit.endsWith('3') ? 'Afdeling Tre' : undefined),
    });
    expect(changes.map(({ updates }) => updates)).toEqual([
      {
        pUnitAdded: { entity: { entityId: 'CVR-2-1990000002', name: 'Prøvelund Møbler ApS', type: 'Place' } },
        pUnitRemoved: { entity: { entityId: 'CVR-2-1990000001', name: 'Prøvelund Møbler ApS', type: 'Place' } },
      },
      { pUnitAdded: { entity: { entityId: 'CVR-2-1990000003', name: 'Afdeling Tre', type: 'Place' } } },
    ]);
    expect(new Set(changes.map(({ id }) => id)).size).toBe(2);
  });

  test('have the type name that is configured', () => {
    const [change] = told(units(), units(1_990_000_001), { placeType: 'ProductionUnit' });
    expect(change?.updates.pUnitAdded?.entity.type).toBe('ProductionUnit');
  });
});

describe('mergers', () => {
  const merger = (from: string, comesOut: boolean): Json => ({
    fusioner: [
      {
        enhedsNummerOrganisation: 4_009_000_000,
        organisationsNavn: [name('Fusion', from)],
        indgaaende: [{ type: 'FUNKTION', vaerdier: [value('Fusion', from, from)] }],
        udgaaende: comesOut ? [{ type: 'FUNKTION', vaerdier: [value('Fusion', from, from)] }] : [],
      },
    ],
  });
  const gone: MergerParty = { entity: 'CVR-1-95000027', name: 'Borte ApS', dissolved: true };
  const mergerParties = () => [{ entity: ENTITY, name: 'x', dissolved: false }, gone];

  test('are reported to both companies if the other one is known', () => {
    const changes = told({}, merger('2026-03-01', true), { mergerParties });
    expect(changes).toMatchObject([
      {
        entity: ENTITY,
        updates: { merger: { entity: { entityId: gone.entity, name: 'Borte ApS' }, dissolved: false } },
      },
      { entity: gone.entity, name: 'Borte ApS', updates: { merger: { entity: company, dissolved: true } } },
    ]);
    expect(told({}, merger('2026-03-01', true))).toEqual([]);
  });

  test('are reported once to each, whichever document comes first', () => {
    const ours: MergerParty = { entity: ENTITY, name: 'Prøvelund Møbler ApS', dissolved: false };
    const options = { mergerParties: () => [gone, ours] };
    const here = told({}, merger('2026-03-01', true), options);
    const there = told(firmDocument(), { ...firmDocument(), ...merger('2026-03-01', false) }, options);
    expect(there.map(({ entity }) => entity)).toEqual([gone.entity, ENTITY]);
    expect(there.map(({ id }) => id)).toEqual(here.map(({ id }) => id).toReversed());
  });

  test('dissolve the company that ended and does not result from them', () => {
    const staying = { mergerParties: () => [{ ...gone, dissolved: false }] };
    const ended = { livsforloeb: [entry({}, '2010-01-01', '2026-03-01')] };
    const dissolved = (fields: Json, comesOut: boolean) =>
      told(fields, { ...fields, ...merger('2026-03-01', comesOut) }, staying)[0]?.updates.merger?.dissolved;
    expect(dissolved(ended, false)).toBe(true);
    expect(dissolved(ended, true)).toBe(false);
    expect(dissolved({}, true)).toBe(false);
    expect(dissolved({ virksomhedsstatus: [entry({ status: 'OPLØST EFTER FUSION' })] }, false)).toBe(true);
  });

  test('that are in both documents before either company ends dissolve the one that only goes in', () => {
    const ours: MergerParty = { entity: ENTITY, name: 'Prøvelund Møbler ApS', dissolved: false };
    const [change, theirs] = told(
      firmDocument(),
      { ...firmDocument(), ...merger('2026-03-01', false) },
      {
        mergerParties: () => [ours],
      },
    );
    expect(change).toMatchObject({ entity: gone.entity, updates: { merger: { dissolved: true } } });
    expect(theirs).toMatchObject({ entity: ENTITY, updates: { merger: { dissolved: false } } });
  });

  test('are reported again if the register says only later that the company ends in them', () => {
    const said = (fields: Json): Json => ({
      ...fields,
      fusioner: [{ enhedsNummerOrganisation: 4_009_000_000, organisationsNavn: [name('Fusion', '2026-03-01')] }],
    });
    const staying = { mergerParties: () => [{ ...gone, dissolved: false }] };
    const ended = { livsforloeb: [entry({}, '2010-01-01', '2026-03-01')] };
    const first = told({}, said({}), staying);
    const then = told(said({}), said(ended), staying).filter(({ updates }) => updates.merger !== undefined);
    const ofOurs = (changes: typeof first) => changes.filter(({ entity }) => entity === ENTITY);
    expect(ofOurs(first)).toMatchObject([{ updates: { merger: { dissolved: false } } }]);
    expect(ofOurs(then)).toMatchObject([{ updates: { merger: { dissolved: true } } }]);
    expect(ofOurs(then)[0]?.id).not.toBe(ofOurs(first)[0]?.id);
    // To the other company nothing is new: what it is told again has the same id.
    expect(then.at(-1)?.id).toBe(first.at(-1)?.id);
    expect(told(said(ended), said(ended), staying)).toEqual([]);
  });

  test('of several that end in one name it as the successor of each, and not each other', () => {
    const survivor: MergerParty = { entity: 'CVR-1-95000035', name: 'Bliver ApS', dissolved: false };
    const ended = { livsforloeb: [entry({}, '2010-01-01', '2026-03-01')] };
    const changes = told(
      ended,
      { ...ended, ...merger('2026-03-01', false) },
      { mergerParties: () => [gone, survivor] },
    );
    expect(changes.map(({ entity, updates }) => [entity, updates.merger?.entity.entityId])).toEqual([
      [ENTITY, survivor.entity],
      [survivor.entity, ENTITY],
    ]);
  });

  test('that begin later are reported then', () => {
    const coming = merger('2026-04-01', true);
    expect(told({}, coming, { mergerParties })).toEqual([]);
    const [before, after] = [companyOf(coming, '2026-03-31'), companyOf(coming, '2026-04-01')];
    expect(changesOf(before, after, { ...OPTIONS, mergerParties })).toHaveLength(2);
  });

  function firmDocument(): Json {
    return { cvrNummer: 95_000_027, navne: [name('Borte ApS')] };
  }
});

test('an organisation of an unreported kind changes nothing', () => {
  const alien = organisation('SÆRLIGE_FINANSIELLE_DELTAGERE', 'X', { type: 'FUNKTION', vaerdier: [value('X')] });
  expect(told({}, people(relation(ANNA, alien)))).toEqual([]);
});
