/** The walk over every column of texts of the schema: what `erase` takes out, what `export` prints, and what is not taken in again. */
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { previewErasure, readEntityRows } from '../../../src/commands/erase/erase-entity.ts';
import { openTables, readPages } from '../../../src/commands/erase/pages.ts';
import { PLACE_OF_TABLE, type Place } from '../../../src/commands/erase/places.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { recordAudit } from '../../../src/runtime/operators/audit.ts';
import { storeNews } from '../../../src/service/news/store.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStore, newStoreUrl } from '../../support/stores.ts';
import { rowsWith } from '../whole-store.ts';
import { eraseByHand } from './by-hand.ts';

const PERSON = 'CVR-3-4000000001';
const NAME = 'Asta Skovlund';
const OTHER = 'CVR-1-95000019';
const NAMESAKE = 'CVR-3-4000000099';
const WORDS = ['Skovlund', '4000000001'];
/** Columns of texts in tables that keep nothing of entities: the walk says why of each table. */
const UNWALKED: readonly string[] = [
  ...['kind', 'span', 'subject'].map((column) => `activity.${column}`),
  'call_window.key',
  ...['digests', 'id', 'name', 'roles'].map((column) => `daemon.${column}`),
  ...['digest', 'erased_with', 'rest'].map((column) => `erasure.${column}`),
  ...['hash', 'operator'].map((column) => `login_link.${column}`),
  ...['name', 'role', 'subject', 'token_hash'].map((column) => `operator.${column}`),
];
const never = (): AbortSignal => AbortSignal.timeout(60_000);

const PROSE = `Tømrer ved ${NAME.toUpperCase()}, id ${PERSON}, nr. 4000000001.`;
/** Columns that are read as JSON. */
const AS_JSON: Readonly<Record<string, unknown>> = {
  'history lines': [['note', null, null, PROSE, null]],
  'news body': { headline: PROSE, content: `<p>{${NAME}|${PERSON}}</p>`, entities: [] },
  'change updates': { purpose: { before: null, after: PROSE } },
  'snapshot body': { purpose: { value: PROSE } },
  'fact value': PROSE,
  'written properties': { purpose: [PROSE, 1] },
};

const layoutOf = async (db: Store['db']) => (await openTables(db, new AbortController().signal)).layout;

const walkedPlaces = (): ReadonlyMap<string, Place> => new Map(PLACE_OF_TABLE);

/** Who the rows are about. */
const OWNED: Readonly<Record<string, string>> = { entity: OTHER, provider: 'crm' };

/** One row in each table, with a text that names the person in each column that the walk reads. */
async function fillAll(store: Store): Promise<void> {
  const tables = await store.db.introspection.getTables();
  const places = walkedPlaces();
  const layout = await layoutOf(store.db);
  await store.write(async (tx) => {
    for (const { name: table, columns } of tables) {
      const place = places.get(table);
      if (place === undefined) continue;
      const texts = layout.get(table)?.texts ?? [];
      const valueIn = (column: string): string | number => {
        if (!texts.includes(column)) return 7;
        return place.fixed.includes(column) ? (OWNED[column] ?? '7') : textFor(table, column);
      };
      const row = columns.map(({ name: column }) => [column, valueIn(column)] as const);
      await sql`insert into ${sql.table(table)} (${sql.join(row.map(([column]) => sql.ref(column)))})
        values (${sql.join(row.map(([, value]) => value))})`.execute(tx);
    }
    const value = JSON.stringify([{ id: PERSON, name: NAME }]);
    await tx.insertInto('fact').values({ entity: OTHER, field: 'owners', clock: '1', seq: 1, value }).execute();
  });
}

const textFor = (table: string, column: string): string => {
  const json = AS_JSON[`${table} ${column}`];
  return json === undefined ? PROSE : JSON.stringify(json);
};

const namingRows = async (store: Store): Promise<readonly string[]> =>
  (await rowsWith(store, '')).filter((row) => WORDS.some((word) => row.toLowerCase().includes(word.toLowerCase())));

describe.each(ENGINES)('the walk over the schema on %s', (engine) => {
  it('covers every text column except a list of existing ones', async () => {
    const layout = await layoutOf((await newStore(engine)).db);
    const unwalked = [...layout].flatMap(([table, { texts }]) => {
      const place = walkedPlaces().get(table);
      if (place !== undefined)
        expect(
          place.fixed.filter((column) => !texts.includes(column)),
          table,
        ).toEqual([]);
      return place === undefined ? texts.map((column) => `${table}.${column}`) : [];
    });
    expect(unwalked.toSorted()).toEqual(UNWALKED);
    expect([...layout].filter(([, { keys }]) => keys.length === 0).map(([table]) => table)).toEqual(['schema_version']);
  });

  it('finds the person in every column of every table, for export and for erase, which leaves nothing', async () => {
    const store = await newStore(engine);
    await store.write((tx) => sql`alter table history add column remark text`.execute(tx));
    await fillAll(store);
    const before = await namingRows(store);
    const exported = await Array.fromAsync(readEntityRows(store.db, PERSON, never()));
    const printed = exported.flatMap(({ table, rows }) => rows.map((row) => `${table} ${JSON.stringify(row)}`));
    expect(printed.toSorted()).toEqual(before);
    const preview = await previewErasure(store.db, PERSON, never());
    expect(preview.tables.reduce((sum, { deleted, anonymised }) => sum + deleted + anonymised, 0)).toBe(before.length);
    expect((await eraseByHand(store, PERSON)).tables).toEqual(preview.tables);
    expect(await namingRows(store)).toEqual([]);
  });

  it('keeps the data of another person of that name, and a company of that name', async () => {
    const store = await newStore(engine);
    const link = {
      provider: 'crm',
      record_id: '8',
      entity: 'CVR-1-12345674',
      state: 'active',
      desired: 'on',
      observed: 'on',
    } as const;
    const owners = JSON.stringify([{ id: NAMESAKE, name: NAME, type: 'Person' }]);
    await store.write(async (tx) => {
      await tx
        .insertInto('fact')
        .values([
          { entity: OTHER, field: 'owners', clock: '1', seq: 1, value: JSON.stringify([{ id: PERSON, name: NAME }]) },
          { entity: OTHER, field: 'name', clock: '1', seq: 1, value: JSON.stringify(`${NAME} Holding ApS`) },
          { entity: 'CVR-1-12345674', field: 'owners', clock: '1', seq: 1, value: owners },
          { entity: 'CVR-1-12345674', field: 'purpose', clock: '1', seq: 1, value: JSON.stringify(`${NAME} ejer`) },
        ])
        .execute();
      await tx
        .insertInto('link')
        .values({
          ...link,
          origin: 'person',
          trust: 'crm',
          send_update: 0,
          synced_seq: 0,
          writes_number: 0,
          created_at: 1,
          updated_at: 1,
        })
        .execute();
      await tx
        .insertInto('written')
        .values({ provider: 'crm', record_id: '8', properties: JSON.stringify({ owner: [NAME, 1] }) })
        .execute();
    });
    await eraseByHand(store, PERSON);
    const left = await rowsWith(store, NAME);
    expect(left.map((row) => row.split(' ', 1)[0])).toEqual(['fact', 'fact', 'fact', 'written']);
    expect(left.some((row) => row.includes('Holding ApS'))).toBe(true);
  });

  it('stores nothing about the person again, by id, number or name, from an event, an article or the audit', async () => {
    const store = await newStore(engine);
    await fillAll(store);
    await eraseByHand(store, PERSON);
    const body = JSON.stringify({
      entityId: OTHER,
      updates: { purpose: { before: null, after: PROSE }, coName: NAME },
    });
    await store.write(async (tx) => {
      await insertReceipts(tx, [{ key: 'k', entity: OTHER, timestamp: '2026-01-01T00:00:00.000Z', body }], 1);
      await storeNews(tx, [
        {
          id: 'later',
          time: 1,
          promotedUntil: 1,
          type: 'PressAgency',
          headline: `${NAME} vokser`,
          tagLine: '',
          content: PROSE,
          provider: 'press',
          providerData: null,
          url: '',
          imageId: null,
          storyId: '',
          entities: [],
        },
      ]);
      const actor = { kind: 'operator', name: 'tester' } as const;
      await recordAudit(
        tx,
        { actor, via: 'page', action: 'search', subject: PERSON, detail: { q: NAME }, result: PROSE },
        1,
      );
    });
    expect(await namingRows(store)).toEqual([]);
    expect(await rowsWith(store, '(erased) vokser')).toHaveLength(1);
  });

  it('reads a table in pages along its key, each row once', async () => {
    const store = await newStore(engine);
    const rows = Array.from({ length: 1_300 }, (_, at) => ({ monitor: `m${at % 7}`, recipient: `r${at}`, at: 1 }));
    await store.write(async (tx) => {
      for (let from = 0; from < rows.length; from += 100)
        await tx
          .insertInto('unsubscribed')
          .values(rows.slice(from, from + 100))
          .execute();
    });
    const tables = await openTables(store.db, never());
    const pages = await Array.fromAsync(readPages(tables, 'unsubscribed', sql<boolean>`1 = 1`));
    expect(pages.length).toBeGreaterThan(1);
    expect(new Set(pages.flat().map((row) => row['recipient'])).size).toBe(1_300);
    expect(pages.flat()).toHaveLength(1_300);
  });
});

it('removes a person from the bytes of a compacted file', async () => {
  const file = await newStoreUrl('sqlite');
  const store = await openStore(file);
  await fillAll(store);
  await eraseByHand(store, PERSON);
  await store.compact();
  await store.close();
  const bytes = readFileSync(file, 'latin1').toLowerCase();
  expect(WORDS.filter((word) => bytes.includes(word.toLowerCase()))).toEqual([]);
});
