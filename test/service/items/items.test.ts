import { describe, expect, it } from 'vitest';
import { addItem, removeItem } from '../../../src/service/items/items.ts';
import { removeMonitor } from '../../../src/service/monitors/monitors.ts';
import { readStateKey } from '../../../src/service/names/queues.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { COMPANY, deliveries, lanes, listed, made, NOW, OTHER, PERSON } from '../monitored.ts';

const unlisted = (store: Store, monitor: string, entity: string, recordId = '') =>
  store.write((tx) => removeItem(tx, { monitor, entity, recordId, now: NOW }));

const items = async (store: Store) => {
  const rows = await store.db.selectFrom('item').select(['entity', 'record_id']).orderBy('seq').execute();
  return rows.map(({ entity, record_id }) => `${entity} ${record_id}`);
};

const told = async (store: Store) => (await deliveries(store)).map(({ entity, events }) => `${entity} ${events}`);

describe.each(ENGINES)('items on %s', (engine) => {
  it('are stored once, however often they are added', async () => {
    const store = await newStore(engine);
    const { id } = await made(store);
    expect(await listed(store, id, COMPANY, 'r1')).toEqual({ kind: 'added' });
    expect(await listed(store, id, COMPANY, 'r1')).toEqual({ kind: 'already' });
    expect(await items(store)).toEqual([`${COMPANY} r1`]);
    expect(await told(store)).toEqual([`${COMPANY} ["addedToMonitor"]`]);
  });

  it('can be removed while absent, and added again', async () => {
    const store = await newStore(engine);
    const { id } = await made(store);
    expect(await unlisted(store, id, COMPANY, 'r1')).toEqual({ kind: 'absent' });
    await listed(store, id, COMPANY, 'r1');
    expect(await unlisted(store, id, COMPANY, 'r2')).toEqual({ kind: 'absent' });
    expect(await unlisted(store, id, COMPANY, 'r1')).toEqual({ kind: 'removed' });
    expect(await unlisted(store, id, COMPANY, 'r1')).toEqual({ kind: 'absent' });
    expect(await listed(store, id, COMPANY, 'r1')).toEqual({ kind: 'added' });
    expect(await told(store)).toEqual([
      `${COMPANY} ["addedToMonitor"]`,
      `${COMPANY} ["removedFromMonitor"]`,
      `${COMPANY} ["addedToMonitor"]`,
    ]);
  });

  it('announce a company with its first record, and its end with the last', async () => {
    const store = await newStore(engine);
    const { id } = await made(store);
    await listed(store, id, COMPANY, 'r1');
    await listed(store, id, COMPANY, 'r2');
    await listed(store, id, OTHER, 'r3');
    await unlisted(store, id, COMPANY, 'r1');
    expect(await told(store)).toEqual([`${COMPANY} ["addedToMonitor"]`, `${OTHER} ["addedToMonitor"]`]);
    await unlisted(store, id, COMPANY, 'r2');
    expect((await told(store)).at(-1)).toBe(`${COMPANY} ["removedFromMonitor"]`);
  });

  it('notify only their own monitor, with its id and name and the name in the register', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' });
    const job = await made(store, { name: 'Sales CRM', provider: 'crm' });
    const row = {
      body: JSON.stringify({ name: 'Havblik ApS' }),
      digest: '',
      loaded_at: '',
      ahead: null,
      updated_at: 0,
    };
    await store.write((tx) =>
      tx
        .insertInto('snapshot')
        .values({ ...row, entity: COMPANY })
        .execute(),
    );
    await listed(store, job.id, COMPANY, 'r1');
    await listed(store, job.id, PERSON, 'r2');
    expect((await deliveries(store)).map(({ monitor }) => monitor)).toEqual([job.id, job.id]);
    const changes = await store.db.selectFrom('change').selectAll().orderBy('seq').execute();
    expect(changes.map(({ name, kind }) => `${name}: ${kind}`)).toEqual(['Havblik ApS: monitor', `${PERSON}: monitor`]);
    expect(changes[0]?.timestamp).toBe('2026-09-01T08:00:00.000Z');
    expect(JSON.parse(changes[0]?.updates ?? '')).toEqual({
      addedToMonitor: { monitorId: job.id, monitorName: 'Sales CRM' },
    });
  });

  it('request the full state on demand, even if they are already listed', async () => {
    const store = await newStore(engine);
    const { id } = await made(store);
    const add = (sendUpdate: boolean) =>
      store.write((tx) => addItem(tx, { monitor: id, entity: COMPANY, recordId: 'r1', sendUpdate, now: NOW }));
    await add(false);
    expect(await lanes(store, 'state')).toEqual([]);
    expect(await add(true)).toEqual({ kind: 'already' });
    expect((await lanes(store, 'state')).map(readStateKey)).toEqual([{ monitor: id, entity: COMPANY }]);
  });

  it('need a monitor, and are removed with it', async () => {
    const store = await newStore(engine);
    expect(await listed(store, 'nobody', COMPANY)).toEqual({ kind: 'no-monitor' });
    expect(await unlisted(store, 'nobody', COMPANY)).toEqual({ kind: 'no-monitor' });
    const [one, other] = [await made(store), await made(store)];
    await listed(store, one.id, COMPANY);
    await listed(store, other.id, OTHER);
    await store.write((tx) => removeMonitor(tx, one.id, NOW));
    expect(await items(store)).toEqual([`${OTHER} `]);
  });

  it('announce a company once if two callers add it under two records at once', async () => {
    const store = await newStore(engine);
    const { id } = await made(store);
    const records = Array.from({ length: 12 }, (_, at) => `r${at}`);
    await Promise.all(records.map((record) => listed(store, id, COMPANY, record)));
    expect(await told(store)).toEqual([`${COMPANY} ["addedToMonitor"]`]);
    await Promise.all(records.map((record) => unlisted(store, id, COMPANY, record)));
    expect(await told(store)).toHaveLength(2);
  });
});
