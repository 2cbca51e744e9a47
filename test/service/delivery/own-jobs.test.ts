import { describe, expect, it } from 'vitest';
import { countDeliveries, REPLAY_LIMIT } from '../../../src/service/delivery/deliveries.ts';
import { ensureOwnJobs } from '../../../src/service/delivery/own-jobs.ts';
import { addItem } from '../../../src/service/items/items.ts';
import { disable } from '../../../src/service/monitors/monitors.ts';
import { openAddress } from '../../../src/service/monitors/webhook-address.ts';
import { publish } from '../../../src/service/publish/publish.ts';
import type { Store } from '../../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { COMPANY, changed, NOW, secrets } from '../monitored.ts';

const own = { url: 'http://127.0.0.1:3000/webhook', auth: { method: 'None' }, providers: ['hubspot', 'crm'] } as const;

const keep = (store: Store, now: number, changes: { readonly url?: string } = {}) =>
  store.write((tx) => ensureOwnJobs(tx, secrets, { ...own, ...changes }, now));

const jobs = async (store: Store) => {
  const columns = ['id', 'provider', 'url', 'enabled'] as const;
  const rows = await store.db.selectFrom('monitor').select(columns).orderBy('provider').execute();
  return rows.map((row) => ({ ...row, url: openAddress(row.url, secrets) }));
};

describe.each(SUITE_ENGINES)('the jobs of our own connector on %s', (engine) => {
  it('are created once for each provider, with its current address', async () => {
    const store = await newStore(engine);
    expect(await keep(store, NOW)).toEqual(['hubspot', 'crm']);
    const before = await jobs(store);
    expect(await keep(store, NOW)).toEqual([]);
    await keep(store, NOW + 1, { url: 'http://127.0.0.1:4000/webhook' });
    expect(before.map(({ provider }) => provider)).toEqual(['crm', 'hubspot']);
    expect(await jobs(store)).toEqual(before.map((job) => ({ ...job, url: 'http://127.0.0.1:4000/webhook' })));
  });

  it('receive all that was held for them, however much that is', async () => {
    const store = await newStore(engine);
    await keep(store, NOW);
    const [job] = await jobs(store);
    const monitor = job?.id ?? '';
    await store.write((tx) => addItem(tx, { monitor, entity: COMPANY, recordId: '7', sendUpdate: false, now: NOW }));
    await store.write((tx) => disable(tx, monitor, 'failing', NOW));
    const changes = Array.from({ length: REPLAY_LIMIT + 1 }, () => changed());
    await store.write((tx) => publish(tx, changes, { now: NOW }));
    await keep(store, NOW + 1);
    expect(await countDeliveries(store.db, { state: 'due' })).toBe(REPLAY_LIMIT + 2);
  });

  it('receive what they missed at once after a restart, without waiting for the schedule', async () => {
    const store = await newStore(engine);
    await keep(store, NOW);
    const [job] = await jobs(store);
    const monitor = job?.id ?? '';
    await store.write((tx) => addItem(tx, { monitor, entity: COMPANY, recordId: '7', sendUpdate: false, now: NOW }));
    await store.write((tx) => publish(tx, [changed()], { now: NOW }));
    // As an attempt leaves it that was asked to wait half a minute.
    await store.write(async (tx) => {
      await tx
        .updateTable('delivery')
        .set({ attempts: 1, next_at: NOW + 30_000 })
        .execute();
      await tx
        .updateTable('lane')
        .set({ due_at: NOW + 30_000 })
        .where('queue', '=', 'deliver')
        .execute();
    });
    await keep(store, NOW + 2_000);
    const due = await store.db.selectFrom('delivery').select(['attempts', 'next_at']).orderBy('seq').execute();
    expect(due).toEqual([
      { attempts: 1, next_at: NOW + 2_000 },
      { attempts: 1, next_at: NOW + 2_000 },
    ]);
    const lane = store.db.selectFrom('lane').select('due_at').where('queue', '=', 'deliver').where('key', '=', monitor);
    expect(await lane.execute()).toEqual([{ due_at: NOW + 2_000 }]);
  });
});
