/** What changes in the store while a sync is under way. */
import { expect, test } from 'vitest';
import type { Connection, Patch, Property } from '../../providers/provider.ts';
import { applyReceipts } from '../../src/connector/apply/apply.ts';
import type { Crm } from '../../src/connector/crm/crm.ts';
import { insertReceipts } from '../../src/connector/intake/receipt.ts';
import { endLink, linkRecord } from '../../src/connector/links/links.ts';
import { setOverride } from '../../src/connector/overrides/override.ts';
import { syncRecords } from '../../src/connector/sync/sync.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { writePayload } from '../../src/protocol/payload.ts';
import { claim } from '../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import type { Store } from '../../src/store/store.ts';
import { ENTITY, OTHER, renamed } from '../faults/company.ts';
import { crmOf } from '../support/crm.ts';
import { ENGINES, newStore } from '../support/stores.ts';

const now = () => Date.UTC(2026, 2, 3);
const NAME: Property = { name: 'name', label: 'Name', type: 'string', writable: true };

/** A CRM whose records are all called "A ApS", and that does `meanwhile` as it is read. */
function crmThat(store: Store, meanwhile: () => Promise<unknown>): { crm: Crm; written: Patch[] } {
  const written: Patch[] = [];
  const connection: Connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => [NAME],
    async read(ids) {
      await meanwhile();
      return ids.map((id) => ({ kind: 'found', id, properties: { name: 'A ApS' } }));
    },
    async update(patches) {
      written.push(...patches);
      return patches.map(({ id }) => ({ kind: 'written', id }));
    },
    scan: async () => ({ records: [] }),
  };
  const mapping = [{ field: 'name', property: 'name', policy: 'tracked' }] as const;
  return { crm: crmOf({ store, connection, mapping, properties: [NAME], now }), written };
}

async function linkAndTell(store: Store, recordId: string, entity: string): Promise<void> {
  await store.write((tx) => linkRecord(tx, { provider: 'crm', recordId, entity, sendUpdate: false, now: now() }));
  const body = JSON.stringify(writePayload(renamed('A ApS', 'B ApS', 8, entity)));
  const event = { key: entity, entity, timestamp: '2026-03-02T08:00:00.000Z', body };
  await store.write((tx) => insertReceipts(tx, [event], now()));
  const claims = await claim(store, 'apply', { limit: 9, now: now(), leaseMs: 9_000 });
  const deps = { store, wakeUp: createWakeUp(), metrics: createMetrics(), now, emailEvent: 'email', mapped: new Map() };
  await applyReceipts(deps, claims);
}

const sync = async (store: Store, crm: Crm): Promise<void> => {
  const claims = await claim(store, 'sync:crm', { limit: 9, now: now(), leaseMs: 9_000 });
  await syncRecords({ store, metrics: createMetrics(), now }, crm, claims, AbortSignal.timeout(60_000));
};

test.each(ENGINES)('a record whose link ends while it is read is not written (%s)', async (engine) => {
  const store = await newStore(engine);
  await linkAndTell(store, 'goes', ENTITY);
  await linkAndTell(store, 'stays', OTHER);
  const end = { provider: 'crm', recordId: 'goes', state: 'removed', reason: 'by a person', now: now() } as const;
  const { crm, written } = crmThat(store, () => store.write((tx) => endLink(tx, end)));
  await sync(store, crm);
  expect(written).toEqual([{ id: 'stays', properties: { name: 'B ApS' } }]);
  const lines = await store.db.selectFrom('history').select(['record_id', 'outcome']).execute();
  expect(lines).toEqual([{ record_id: 'stays', outcome: 'written' }]);
  await sync(store, crm);
  const lanes = await store.db.selectFrom('lane').select('key').where('queue', '=', 'sync:crm').execute();
  expect(lanes).toEqual([]);
});

test.each(ENGINES)(
  "a record that was given to another company while it is read gets none of the first one's values (%s)",
  async (engine) => {
    const store = await newStore(engine);
    await linkAndTell(store, 'one', ENTITY);
    const { crm, written } = crmThat(store, () =>
      store.write((tx) =>
        tx.updateTable('link').set({ entity: OTHER, synced_seq: 0 }).where('record_id', '=', 'one').execute(),
      ),
    );
    await sync(store, crm);
    expect(written).toEqual([]);
    expect(await store.db.selectFrom('link').select(['entity', 'synced_seq']).execute()).toEqual([
      { entity: OTHER, synced_seq: 0 },
    ]);
  },
);

test.each(ENGINES)('a property that a person holds while it is read is not written (%s)', async (engine) => {
  const store = await newStore(engine);
  await linkAndTell(store, 'held', ENTITY);
  await linkAndTell(store, 'free', OTHER);
  const hold = { kind: 'hold', once: false, until: null, reason: null } as const;
  const ref = { provider: 'crm', recordId: 'held', property: 'name' };
  const { crm, written } = crmThat(store, () => store.write((tx) => setOverride(tx, ref, hold, now())));
  await sync(store, crm);
  expect(written).toEqual([{ id: 'free', properties: { name: 'B ApS' } }]);
  await sync(store, crm);
  expect(written.length).toBe(1);
  const lines = await store.db.selectFrom('history').select(['record_id', 'rule']).orderBy('id').execute();
  expect(lines).toEqual([
    { record_id: 'free', rule: 'register' },
    { record_id: 'held', rule: 'held' },
  ]);
});

test.each(ENGINES)(
  'a change that waited for a hold in the CRM is written within a poll, and history has the hold once (%s)',
  async (engine) => {
    const store = await newStore(engine);
    await linkAndTell(store, 'one', ENTITY);
    let time = now();
    let held = true;
    const written: Patch[] = [];
    const connection: Connection = {
      check: async () => ({ id: '1', name: 'x', notes: [] }),
      properties: async () => [NAME],
      read: async (ids) => ids.map((id) => ({ kind: 'found', id, properties: { name: 'A ApS', hands_off: held } })),
      async update(patches) {
        written.push(...patches);
        return patches.map(({ id }) => ({ kind: 'written', id }));
      },
      scan: async () => ({ records: [] }),
    };
    const mapping = [{ field: 'name', property: 'name', policy: 'tracked' }] as const;
    const crm = crmOf({ store, connection, mapping, properties: [NAME], now: () => time, hold: 'hands_off' });
    const poll = async () => {
      const claims = await claim(store, 'sync:crm', { limit: 9, now: time, leaseMs: 9_000 });
      await syncRecords({ store, metrics: createMetrics(), now: () => time }, crm, claims, AbortSignal.timeout(60_000));
    };
    await poll();
    for (let look = 0; look < 3; look += 1) {
      time += crm.pollMinutes * 60_000;
      await poll();
    }
    expect(written).toEqual([]);
    held = false;
    time += crm.pollMinutes * 60_000;
    await poll();
    expect(written).toEqual([{ id: 'one', properties: { name: 'B ApS' } }]);
    const lines = await store.db.selectFrom('history').select('rule').orderBy('id').execute();
    expect(lines.map(({ rule }) => rule)).toEqual(['hold', 'register']);
  },
);
