/** After a restore: what cvrsync wrote since the copy is no person's edit, and what a person wrote stays. */
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { PresetRow } from '../../../providers/provider.ts';
import { readDifferences } from '../../../src/connector/history/differences.ts';
import { mark } from '../../../src/runtime/lanes/lanes.ts';
import { recordGap } from '../../../src/store/recovery/gap.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import { handClock } from '../../support/clock.ts';
import { historyLines } from '../../support/history.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { type Emulated, emulatedHubspot, emulatedSalesforce, recordsOf } from './emulated-records.ts';

const EDIT = 'As a person wrote it';
const HOUR = 3_600_000;
const TABLES = [
  'link',
  'written',
  'property_state',
  'history',
  'receipt',
  'fact',
  'known_value',
  'lane',
  'kv',
] as const;

type Copy = (tx: Tx) => Promise<void>;

/** What the store holds now; returns how to put that back, as a restore does. */
async function copyOf({ db, engine }: Store): Promise<Copy> {
  const rows = new Map<string, readonly object[]>();
  for (const table of TABLES) rows.set(table, (await sql<object>`select * from ${sql.table(table)}`.execute(db)).rows);
  const newest = rows.get('receipt')?.length ?? 0;
  return async (tx) => {
    for (const [table, all] of rows) {
      await sql`delete from ${sql.table(table)}`.execute(tx);
      for (const row of all)
        await sql`insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
          values (${sql.join(Object.values(row))})`.execute(tx);
    }
    if (engine === 'postgres')
      await sql`select setval(pg_get_serial_sequence('receipt', 'seq'), ${newest})`.execute(tx);
    else await sql`update sqlite_sequence set seq = ${newest} where name = 'receipt'`.execute(tx);
  };
}

const CRMS = [
  ['HubSpot', (now: () => number) => emulatedHubspot({ now })],
  ['Salesforce with field history', (now: () => number) => emulatedSalesforce({ now, trackedFields: ['Name'] })],
] as const;

/** Three records that hold B ApS by our write, a copy of the store, then another write of ours to all of them. */
async function world(
  open: (now: () => number) => Promise<Emulated>,
  engine: (typeof ENGINES)[number],
  rows: readonly PresetRow[] = [],
) {
  const clock = handClock();
  const emulated = await open(clock.now);
  const records = await recordsOf(emulated, 3, { engine, clock, rows });
  const { store, sync, report, rename, ids, holding } = records;
  const { emulator, name } = emulated;
  await sync();
  clock.forward(HOUR);
  const copy = await copyOf(store);
  clock.forward(HOUR);
  await rename('B ApS', 'C ApS', 9);
  await sync();
  expect(holding('C ApS')).toBe(3);
  clock.forward(HOUR);
  return {
    ...records,
    clock,
    emulator,
    edit: (id: string | undefined, value: string) => emulator.edit(id ?? '', { [name]: value }),
    async restore() {
      await store.write(async (tx) => {
        await copy(tx);
        await recordGap(tx, { cause: 'restored' }, clock.now());
      });
      clock.forward(HOUR);
    },
    /** The whole state of the company, as the service sends it if it is asked. */
    state: (name: string) => report({ name: { before: null, after: name } }, 10),
    /** Looks at all records. */
    async look() {
      await store.write((tx) => mark(tx, 'sync:crm', ids, clock.now()));
      await sync();
    },
    differences: async () =>
      (await readDifferences(store.db, clock.now(), {}, 9)).map(({ crm }) => JSON.parse(crm ?? '')),
    rules: async (id: string | undefined) =>
      (await historyLines(store.db)).filter(({ record_id }) => record_id === id).map(({ rule }) => rule),
  };
}

describe.each(SUITE_ENGINES)('a store that was restored (%s)', (engine) => {
  test.each(CRMS)('recognises its later writes to %s, and keeps an edit of a person', async (_, open) => {
    const { edit, restore, state, sync, ids, held, differences } = await world(open, engine);
    edit(ids[1], EDIT);
    await restore();
    await state('D ApS');
    await sync();
    expect(held()).toEqual(['D ApS', EDIT, 'D ApS']);
    expect(await differences()).toEqual([EDIT]);
  });

  test.each(CRMS)('does not overwrite its newer value in %s with the older one', async (_, open) => {
    const { edit, restore, rename, state, sync, look, ids, held, differences, rules } = await world(open, engine);
    edit(ids[1], EDIT);
    await restore();
    await look();
    await look();
    expect([held(), await differences()]).toEqual([['C ApS', EDIT, 'C ApS'], [EDIT]]);
    await rename('B ApS', 'C ApS', 9);
    await state('D ApS');
    await sync();
    expect([held(), await differences()]).toEqual([['D ApS', EDIT, 'D ApS'], [EDIT]]);
    expect(await rules(ids[0])).toEqual(['register', 'ours']);
  });

  test("keeps a person's value that an undo restored since, although the CRM says that we wrote it", async () => {
    const { crm, edit, restore, state, sync, ids, held } = await world(CRMS[0][1], engine);
    edit(ids[0], EDIT);
    await crm.connection.update([{ id: ids[0] ?? '', properties: { name: 'C ApS' } }], AbortSignal.timeout(9_000));
    await crm.connection.update([{ id: ids[0] ?? '', properties: { name: EDIT } }], AbortSignal.timeout(9_000));
    await restore();
    await state('D ApS');
    await sync();
    expect(held()).toEqual([EDIT, 'D ApS', 'D ApS']);
  });

  test('leaves values to a person if the history of the CRM is inconclusive', async () => {
    const { restore, state, sync, held, differences } = await world((now) => emulatedSalesforce({ now }), engine);
    await restore();
    await state('D ApS');
    await sync();
    expect([held(), await differences()]).toEqual([Array(3).fill('C ApS'), Array(3).fill('C ApS')]);
  });

  test('does not write its older value under `always`', async () => {
    const always: PresetRow = { field: 'name', property: 'cvr_name', policy: 'always' };
    const { restore, look, ids, emulator } = await world(CRMS[0][1], engine, [always]);
    await restore();
    await look();
    expect(ids.map((id) => emulator.get(id)?.['cvr_name'])).toEqual(Array(3).fill('C ApS'));
  });
});
