/** A family that a document does not state is unknown, never empty. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { unitDocumentOf } from '../../../src/commands/emulate/sample/unit.ts';
import { isJsonObject, type JsonObject } from '../../../src/protocol/text/json.ts';
import { readFullStates } from '../../../src/service/items/full-state.ts';
import { stateOf } from '../../../src/service/register/diff/state.ts';
import { ALL_FAMILIES, type Family } from '../../../src/service/register/document/families.ts';
import { createFileSource } from '../../../src/service/register/source/file.ts';
import { SAMPLE_FOLDERS } from '../../support/outside.ts';
import { newFolder, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import {
  attribute,
  contact,
  document,
  ENTITY,
  entry,
  industry,
  type Json,
  name,
  OPTIONS,
  person,
  relation,
  trulyOwns,
  value,
} from './documents.ts';
import { life, loaded, oldCompany, START, setWatch, type WatchFixture } from './watch-fixture.ts';
import { type Withhold, withholdings } from './withholdings.ts';

const KINDS = ['Vrvirksomhed', 'VrproduktionsEnhed'] as const;

/** A document as it is loaded so many seconds after the start, with what a test makes of it. */
const served = (document: unknown, seconds: number, change: Withhold = (same) => same) => {
  if (!isJsonObject(document)) throw new Error('the document is no object');
  const kind = KINDS.find((each) => each in document);
  const content = kind === undefined ? undefined : document[kind];
  if (kind === undefined || !isJsonObject(content)) throw new Error('the document is empty');
  const sidstIndlaest = new Date(START + seconds * 1_000).toISOString();
  return { [kind]: { ...change(content), sidstIndlaest } };
};

const contentIn = (document: unknown): JsonObject => {
  const [content] = isJsonObject(document) ? Object.values(document) : [];
  return isJsonObject(content) ? content : {};
};

/** Serves documents whole, then without each thing of theirs in turn, and whole again each time; returns all that was told. */
async function serveInTurn(fixture: WatchFixture, documents: readonly unknown[]): Promise<readonly string[]> {
  const ways = documents.map((document) => ({ document, withheld: withholdings(contentIn(document)) }));
  const names = new Set(ways.flatMap(({ withheld }) => [...withheld.keys()]));
  expect(names.size).toBeGreaterThan(60);
  await fixture.tell(...documents.map((one) => served(one, 0)));
  await fixture.run();
  const versions = [...names].flatMap((name, at) => {
    // A document without the thing would only come again as it is.
    const having = ways.filter(({ withheld }) => withheld.has(name));
    return [
      ...having.map(({ document, withheld }) => served(document, 120 * at + 60, withheld.get(name))),
      ...having.map(({ document }) => served(document, 120 * at + 120)),
    ];
  });
  await fixture.tell(...versions);
  await fixture.run();
  const { unreadable = 0, late = 0 } = await fixture.counts();
  expect({ unreadable, late }).toEqual({ unreadable: 0, late: 0 });
  const rows = await fixture.store.db.selectFrom('change').selectAll().orderBy('seq').execute();
  return rows.map(({ entity, timestamp, updates }) => {
    const name = [...names][Math.ceil((Date.parse(timestamp) - START) / 120_000) - 1];
    return `near ${name}: ${entity} ${updates}`;
  });
}

const [one, two] = [oldCompany(1), oldCompany(5)];
const unit = one.pUnits[0];
const invented = [
  loaded(life(one, { from: '2026-01-05', is: { name: 'Andet Navn ApS', board: two.board } }), -100),
  loaded(life(two), -100),
  loaded(life(oldCompany(9, { ended: '2026-02-01T00:00:00' })), -100),
  ...(unit === undefined ? [] : [unitDocumentOf(unit, life(one), { loadedAt: START - 100_000 })]),
];

describe('a store filled from documents that are then served in part', () => {
  it.each(SUITE_ENGINES)(
    'reports nothing if invented ones lack each section in turn, and are complete again, on %s',
    async (engine) => {
      const fixture = await setWatch(await newStore(engine));
      expect(await serveInTurn(fixture, invented)).toEqual([]);
    },
    300_000,
  );

  test.each(SAMPLE_FOLDERS)(
    'reports nothing if $kind ones of the register lack each section in turn, and are complete again',
    async ({ folder }) => {
      const place = join(folder, 'cvr-es');
      const documents = readdirSync(place)
        .filter((name) => /^(?:virksomhed|produktionsenhed).*(?<!-after)\.json$/u.test(name))
        .flatMap((name): unknown[] => JSON.parse(readFileSync(join(place, name), 'utf8')).hits.hits)
        .map((hit) => (isJsonObject(hit) ? hit['_source'] : undefined));
      expect(documents.length).toBeGreaterThan(2);
      const fixture = await setWatch(await newStore('sqlite'));
      expect(await serveInTurn(fixture, documents)).toEqual([]);
    },
    300_000,
  );
});

describe('a family that a document does not state', () => {
  const owner = person(4_000_700_001, 'Vera Prøve');
  const owned = { deltagerRelation: [relation(owner, trulyOwns('0.5', '0.5'))] };
  const gone = { deltagerRelation: [relation(owner, trulyOwns('0.5', '0.5', '2020-01-01', '2026-05-01'))] };

  /** The events of documents that come one after the other. */
  const toldOf = async (versions: readonly Json[], families?: readonly Family[]) => {
    const options = families === undefined ? {} : { source: () => ({ ...source, families }) };
    const source = createFileSource(join(folder, 'register.ndjson'), {});
    const fixture = await setWatch(await newStore('sqlite'), { folder, ...options });
    await fixture.tell(...versions.map((fields, at) => served(document(fields), at)));
    await fixture.run();
    return fixture.changes();
  };
  let folder = '';
  beforeEach(() => {
    folder = newFolder();
  });

  it('reports that a beneficial owner left if the document says when, even after one without owners', async () => {
    const told = await toldOf([owned, { deltagerRelation: [] }, gone]);
    expect(told.map(({ updates }) => updates)).toMatchObject([
      { trueOwnership: { removed: [{ name: 'Vera Prøve' }] }, trueVoteRights: { removed: [{ name: 'Vera Prøve' }] } },
    ]);
  });

  it('reports the first owner of a company that had none', async () => {
    expect(await toldOf([{ deltagerRelation: [] }, owned])).toHaveLength(1);
  });

  it('is stored without a change if no document stated it before', async () => {
    expect(await toldOf([{}, owned, {}, owned])).toEqual([]);
  });

  it('is not reported if the source does not cover it, whatever its documents hold', async () => {
    const families = ALL_FAMILIES.filter((family) => family !== 'beneficialOwners');
    expect(await toldOf([owned, gone, owned, { ...gone, reklamebeskyttet: true }], families)).toMatchObject([
      { updates: { commercialProtection: { after: true } } },
    ]);
  });

  it('is in no full state, while a list without members is stated as empty', async () => {
    const listed = async (...versions: readonly Json[]) => {
      const fixture = await setWatch(await newStore('sqlite'));
      await fixture.tell(...versions.map((fields, at) => served(document(fields), at)));
      await fixture.run();
      const { company: known } = (await readFullStates(fixture.store.db, [ENTITY])).get(ENTITY) ?? {};
      return known === undefined ? undefined : stateOf(known, OPTIONS).trueOwnership?.added.length;
    };
    expect(await listed({ deltagerRelation: [] })).toBeUndefined();
    expect(await listed(owned, { deltagerRelation: [] })).toBe(1);
    expect(await listed(owned, gone)).toBe(0);
    expect(await listed(owned, gone, {})).toBe(0);
  });

  it('is empty if the register deleted the only entry of a list, which is reported', async () => {
    const full = { binavne: [name('Bi ApS')], telefonNummer: [contact('70121212')], bibranche2: [industry('563010')] };
    const told = await toldOf([full, { binavne: [], telefonNummer: [], bibranche2: [] }, { binavne: [] }]);
    expect(told.map(({ updates }) => updates)).toMatchObject([
      {
        altNames: { added: [], removed: ['Bi ApS'] },
        phoneNumber: { before: '70121212', after: null },
        altIndustries: { added: [], removed: [{ industryCode: '563010' }] },
      },
    ]);
  });

  const units = (...numbers: readonly number[]): Json => ({ penheder: numbers.map((pNummer) => entry({ pNummer })) });
  const unit = 1_995_000_011;
  it.each<[string, readonly Json[], readonly string[]]>([
    ['loses', [units(unit), units(), { ...units(), navne: [name('Ny ApS')] }], ['pUnitRemoved', 'name']],
    ['gets back', [units(unit), units(), units(unit)], ['pUnitRemoved', 'pUnitAdded']],
    ['keeps, where nothing is stated of it,', [units(unit), { penheder: undefined }, units(unit)], []],
    ['keeps, in a document without its life,', [units(unit), { ...units(), livsforloeb: [] }, units(unit)], []],
  ])('%s its only production unit by an empty list, reported once', async (_, versions, events) => {
    const told = await toldOf(versions);
    expect(told.flatMap(({ updates }) => Object.keys(updates))).toEqual(events);
  });

  it('is kept if a list is missing', async () => {
    const full = { binavne: [name('Bi ApS')], telefonNummer: [contact('70121212')], bibranche2: [industry('563010')] };
    const missing = { binavne: undefined, telefonNummer: undefined, bibranche2: undefined };
    expect(await toldOf([full, missing, full])).toEqual([]);
  });

  it('never removes a name', async () => {
    const ended = { navne: [name('Borte ApS', '2020-01-01', '2026-01-01')] };
    expect(await toldOf([{ navne: [name('Borte ApS')] }, ended])).toEqual([]);
  });

  it('keeps each secondary industry whose place is not stated', async () => {
    const [bakery, café, shop] = ['107120', '563010', '472400'].map((code) => [industry(code)]);
    const told = await toldOf([
      { bibranche1: bakery, bibranche2: café },
      { bibranche1: bakery },
      { bibranche2: café },
      { bibranche1: shop },
    ]);
    expect(told.map(({ updates }) => updates)).toMatchObject([
      { altIndustries: { added: [{ industryCode: '472400' }], removed: [{ industryCode: '107120' }] } },
    ]);
  });

  it('keeps the currency of an amount that comes without one', async () => {
    const capital = (...attributes: readonly Json[]) => ({ attributter: attributes });
    const told = await toldOf([
      capital(attribute('KAPITAL', value('40000')), attribute('KAPITALVALUTA', value('EUR'))),
      capital(attribute('KAPITAL', value('50000'))),
    ]);
    expect(told).toMatchObject([{ updates: { capital: { after: { value: 50_000, currency: 'EUR' } } } }]);
  });
});
