/** Rows of an older version, stored under two spellings of a record's id: brought into one when the connection opens. */
import { describe, expect, it } from 'vitest';
import { salesforce } from '../../../providers/salesforce/provider.ts';
import { readWritten } from '../../../src/connector/history/written.ts';
import { linkRecord, listLinks } from '../../../src/connector/links/links.ts';
import { readOverrides, setOverride } from '../../../src/connector/overrides/override.ts';
import { respellRecords } from '../../../src/connector/respell/respell.ts';
import { mark, park } from '../../../src/runtime/lanes/lanes.ts';
import type { Store, Tx } from '../../../src/store/open.ts';
import { asStored } from '../../support/history.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

const A = 'CVR-1-10000001';
const B = 'CVR-1-10000002';
const LONG = '001D000000IqhSLIAZ';
const SHORT = '001D000000IqhSL';
const OTHER = '001D000000IqhSMIAZ';
const NOW = 1_000;

const crm = { name: 'sf', provider: salesforce, settings: {} };
const respell = (store: Store, now = NOW) => respellRecords(store, crm, now);
const link = (tx: Tx, recordId: string, entity: string) =>
  linkRecord(tx, { provider: 'sf', recordId, entity, sendUpdate: false, now: 1 });
const confirmed = (store: Store, recordId: string, observed: 'on' | 'off') =>
  store.write((tx) =>
    tx.updateTable('link').set({ observed, observed_at: 1 }).where('record_id', '=', recordId).execute(),
  );
const shown = async (store: Store) =>
  (await listLinks(store.db)).map(({ record_id, entity, state, desired, observed }) =>
    [record_id, entity, state, desired, observed].join(' '),
  );
const lanes = async (store: Store) =>
  (await store.db.selectFrom('lane').selectAll().orderBy('queue').orderBy('key').execute()).map(
    ({ queue, key, due_at, parked_at }) => `${queue} ${key} ${parked_at === null ? due_at : 'parked'}`,
  );

/** What an older version would have stored of a record in each table, under one id. */
async function fill(tx: Tx, record_id: string, at: number): Promise<void> {
  const own = { provider: 'sf', record_id };
  const state = {
    refused: null,
    refused_reason: null,
    refused_schema: null,
    trusted_at: null,
    kept: null,
    offered: null,
  };
  await tx
    .insertInto('written')
    .values({ ...own, properties: JSON.stringify({ Phone: [String(at), at], [`Only${at}`]: [null, at] }) })
    .execute();
  await tx
    .insertInto('property_state')
    .values({ ...own, ...state, property: 'Phone', kept_at: null })
    .execute();
  await tx
    .insertInto('history')
    .values({
      ...own,
      at,
      entity: A,
      seq: at,
      rule: 'earlier',
      lines: asStored(['Phone', 'phone', null, String(at), null]),
      outcome: 'written',
      detail: null,
    })
    .execute();
  await tx
    .insertInto('note')
    .values({
      ...own,
      marker: 'm',
      seq: 1,
      entity: A,
      subject: 's',
      body: 'b',
      at,
      state: at > 5 ? 'done' : 'due',
      attempted_at: null,
      note_id: at > 5 ? 'n' : null,
      done_at: at > 5 ? at : null,
    })
    .execute();
  await tx
    .insertInto('parent')
    .values({ ...own, owner: null, parent_id: at > 5 ? OTHER : null, pending_id: null, at })
    .execute();
  await setOverride(tx, { ...own, recordId: record_id, property: 'Phone' }, HOLD, at);
}
const PLANNED = { verdict: 'matched', action: 'link', state: 'planned' } as const;
const HOLD = { kind: 'hold', once: false, until: null, reason: 'sales' } as const;

describe.each(ENGINES)('rows of a Salesforce id in 15 characters on %s', (engine) => {
  it('are brought into 18, and the item of the short id is dropped after the other is there', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await link(tx, SHORT, A);
      await fill(tx, SHORT, 9);
      await tx.deleteFrom('lane').execute();
      await park(tx, 'sync:sf', SHORT, { at: 1, error: 'duplicate id specified' });
    });
    await confirmed(store, SHORT, 'on');
    expect(await respell(store)).toEqual({ records: 1, conflicts: [] });
    expect(await shown(store)).toEqual([`${SHORT} ${A} merged off unknown`, `${LONG} ${A} active on unknown`]);
    expect(await lanes(store)).toEqual([
      `monitoring sf:${SHORT} 61000`,
      `monitoring sf:${LONG} 1000`,
      `sync:sf ${LONG} 1000`,
    ]);
    for (const table of ['written', 'property_state', 'history', 'note', 'parent', 'override'] as const)
      expect(await store.db.selectFrom(table).select('record_id').execute(), table).toEqual([{ record_id: LONG }]);
    // The service has dropped it: at the next start nothing is left of the short id.
    await confirmed(store, SHORT, 'off');
    expect(await respell(store)).toEqual({ records: 0, conflicts: [] });
    expect(await shown(store)).toEqual([`${LONG} ${A} active on unknown`]);
  });

  it('beside rows of the long one become one of each, and the newest write is ours', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await link(tx, LONG, A);
      await link(tx, SHORT, A);
      await fill(tx, LONG, 3);
      await fill(tx, SHORT, 9);
    });
    expect(await respell(store)).toEqual({ records: 1, conflicts: [] });
    expect(await readWritten(store.db, 'sf', [LONG, SHORT])).toEqual(
      new Map([
        [
          LONG,
          new Map([
            ['Phone', { value: '9', at: 9 }],
            ['Only3', { value: null, at: 3 }],
            ['Only9', { value: null, at: 9 }],
          ]),
        ],
      ]),
    );
    expect(await store.db.selectFrom('note').selectAll().execute()).toMatchObject([
      { record_id: LONG, state: 'done', note_id: 'n' },
    ]);
    expect(await store.db.selectFrom('parent').selectAll().execute()).toMatchObject([
      { record_id: LONG, parent_id: OTHER },
    ]);
    expect([...((await readOverrides(store.db, 'sf', [LONG], 10)).get(LONG)?.keys() ?? [])]).toEqual(['Phone']);
    expect(await store.db.selectFrom('history').select('record_id').execute()).toHaveLength(2);
    expect((await shown(store)).at(-1)).toBe(`${LONG} ${A} active on unknown`);
  });

  it('take with them what is pending, planned and skipped, and where the record is the parent of another', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await link(tx, SHORT, A);
      await fill(tx, OTHER, 3);
      await tx.updateTable('parent').set({ parent_id: SHORT, pending_id: SHORT }).execute();
      const pending = { queue: 'sync:sf', key: SHORT, fence: 0, at: 1, detail: '{}', check_at: 2 };
      await tx.insertInto('pending_write').values(pending).execute();
      const scanned = { position: 0, name: null, found: null, entity: A, detail: null } as const;
      await tx
        .insertInto('scan')
        .values({ ...scanned, provider: 'sf', purpose: 'backfill', record_id: SHORT, ...PLANNED })
        .execute();
      await tx.insertInto('plan_skip').values({ provider: 'sf', record_id: SHORT, entity: A }).execute();
      await tx.deleteFrom('lane').execute();
      for (const queue of ['heal:sf', 'note:sf', 'parent:sf']) await mark(tx, queue, [SHORT], 1);
    });
    expect(await respell(store)).toEqual({ records: 1, conflicts: [] });
    expect(await store.db.selectFrom('parent').select(['parent_id', 'pending_id']).execute()).toEqual([
      { parent_id: LONG, pending_id: LONG },
    ]);
    expect(await store.db.selectFrom('pending_write').select('key').execute()).toEqual([{ key: LONG }]);
    for (const table of ['scan', 'plan_skip'] as const)
      expect(await store.db.selectFrom(table).select('record_id').execute(), table).toEqual([{ record_id: LONG }]);
    // Read and decided anew, whoever wrote last.
    expect((await lanes(store)).filter((lane) => !lane.startsWith('monitoring'))).toEqual(
      ['heal', 'note', 'parent', 'sync'].map((queue) => `${queue}:sf ${LONG} 1000`),
    );
  });

  it('of another company than the long one make a conflict for a person, and nothing is picked', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await link(tx, LONG, A);
      await link(tx, SHORT, B);
    });
    for (const id of [LONG, SHORT]) await confirmed(store, id, 'on');
    expect(await respell(store)).toEqual({ records: 1, conflicts: [LONG] });
    expect(await shown(store)).toEqual([`${SHORT} ${B} merged off unknown`, `${LONG} ${A} conflict on on`]);
    const [, conflict] = await listLinks(store.db);
    expect(conflict?.reason).toContain(`${SHORT} for ${B}`);
  });

  it('are looked for once, and again while one must wait', async () => {
    const store = await newStore(engine);
    expect(await respell(store)).toEqual({ records: 0, conflicts: [] });
    // Only an older version would store it: this one has looked.
    await store.write((tx) => link(tx, SHORT, A));
    expect(await respell(store)).toEqual({ records: 0, conflicts: [] });
    expect(await shown(store)).toEqual([`${SHORT} ${A} active on unknown`]);
  });

  it('wait as a conflict while the service has not confirmed the end of the long one, and are united then', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await link(tx, LONG, B);
      await link(tx, SHORT, A);
      await tx.updateTable('link').set({ state: 'removed', desired: 'off' }).where('record_id', '=', LONG).execute();
    });
    await respell(store);
    expect(await shown(store)).toEqual([`${SHORT} ${A} conflict on unknown`, `${LONG} ${B} removed off unknown`]);
    await confirmed(store, LONG, 'off');
    await respell(store);
    expect((await shown(store)).at(-1)).toBe(`${LONG} ${A} conflict on unknown`);
  });

  it('leave other connections and ids that can be no record alone', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'hubspot', recordId: SHORT, entity: A, sendUpdate: false, now: 1 });
      await link(tx, 'https://org.example.com/001D000000IqhSL', B);
      await mark(tx, 'sync:hubspot', [SHORT], 1);
    });
    const before = [await shown(store), await lanes(store)];
    expect(await respell(store)).toEqual({ records: 0, conflicts: [] });
    expect([await shown(store), await lanes(store)]).toEqual(before);
  });
});
