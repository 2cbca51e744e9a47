/** What only happens if several processes write at the same time. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { listDeliveries, replayDeliveries } from '../../src/service/delivery/deliveries.ts';
import { trimDeliveries } from '../../src/service/delivery/trim.ts';
import { activate, disable } from '../../src/service/monitors/monitors.ts';
import { publish } from '../../src/service/publish/publish.ts';
import type { Store } from '../../src/store/store.ts';
import { newStore } from '../support/stores.ts';
import { delivering, openHook } from './delivering.ts';
import { changed, made, NOW } from './monitored.ts';

const DAY = 86_400_000;
const PATIENT = { timeout: 120_000 };
const STEADY = new AbortController().signal;
const states = async (store: Store) => (await listDeliveries(store.db)).map(({ state }) => state);

/** Resolves when a statement of this database waits for another's transaction. */
const someoneWaits = (store: Store) =>
  expect
    .poll(async () => {
      const { rows } = await sql<{ waiting: number }>`select count(*) as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(store.db);
      return rows[0]?.waiting;
    }, PATIENT)
    .toBe(1);

it('a delivery that is replayed as it reaches its maximum age is delivered', async () => {
  const store = await newStore('postgres');
  const { id } = await made(store, { target: 'all' });
  await store.write((tx) => disable(tx, id, 'person', NOW));
  await store.write((tx) => publish(tx, [changed()], { now: NOW }));
  await store.write((tx) => activate(tx, id, NOW));
  const [done, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const replayed = store.write(async (tx) => {
    await replayDeliveries(tx, {}, NOW);
    done.resolve();
    await open.promise;
  });
  await done.promise;
  const trimmed = trimDeliveries(store, NOW + 15 * DAY, STEADY);
  await someoneWaits(store);
  open.resolve();
  await Promise.all([replayed, trimmed]);
  expect(await states(store)).toEqual(['due']);
});

it('a change that is published while a monitor is being enabled is not held forever', async () => {
  const store = await newStore('postgres');
  const hook = await openHook();
  const { id } = await made(store, { target: 'all', url: hook.url });
  await store.write((tx) => disable(tx, id, 'person', NOW));
  const change = changed();
  const [stored, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const inTheWay = store
    .write(async (tx) => {
      await publish(tx, [change], { now: NOW });
      stored.resolve();
      await open.promise;
      throw new Error('taken back');
    })
    .catch(() => undefined);
  await stored.promise;
  const { publish: tell, worker } = delivering(store);
  const told = tell(change);
  // It has looked at the monitors, and waits to see whether the change is stored already.
  await someoneWaits(store);
  await store.write((tx) => activate(tx, id, NOW));
  open.resolve();
  await Promise.all([told, inTheWay]);
  await worker.drained();
  expect(await states(store)).toEqual(['done']);
});
