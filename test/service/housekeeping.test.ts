import { describe, expect, it } from 'vitest';
import { RETENTION } from '../../src/runtime/housekeeping/retention.ts';
import { claim } from '../../src/runtime/lanes/lanes.ts';
import { HOUSEKEEPING_QUEUE, runServiceHousekeeping, seedServiceHousekeeping } from '../../src/service/housekeeping.ts';
import { publish } from '../../src/service/publish/publish.ts';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, newStore } from '../support/stores.ts';
import { COMPANY, changed, made } from './monitored.ts';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;
const never = new AbortController().signal;
const ago = (days: number): number => NOW - days * DAY;

async function run(store: Store, now = NOW, retention = RETENTION): Promise<readonly string[]> {
  await store.write((tx) => seedServiceHousekeeping(tx, now));
  const claims = await claim(store, HOUSEKEEPING_QUEUE, { limit: 20, now, leaseMs: 30_000 });
  await runServiceHousekeeping({ store, now: () => now, retention }, claims, never);
  return claims.map(({ key }) => key).toSorted();
}

const happened = (store: Store, id: string, days: number) =>
  store.write((tx) => publish(tx, [changed({ id })], { now: ago(days) }));

const changes = async (store: Store) => {
  const rows = await store.db.selectFrom('change').select('id').orderBy('seq').execute();
  return rows.map(({ id }) => id);
};

const end = (store: Store, state: 'done' | 'held' | 'failed' | 'dropped') =>
  store.write((tx) => tx.updateTable('delivery').set({ state, ended_at: NOW }).where('state', '=', 'due').execute());

describe.each(ENGINES)('housekeeping of the service on %s', (engine) => {
  it('keeps each kind for as many days as the configuration says, and news forever by default', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' }, ago(100));
    await happened(store, 'ten', 10);
    await end(store, 'done');
    await happened(store, 'two', 2);
    await end(store, 'done');
    const news = { promoted_until: NOW, type: 1, body: '{}' };
    await store.write(async (tx) => {
      for (const days of [900, 10, 2]) {
        const { seq } = await tx
          .insertInto('news')
          .values({ ...news, id: `n${days}`, time: ago(days) })
          .returning('seq')
          .executeTakeFirstOrThrow();
        await tx
          .insertInto('news_entity')
          .values({ entity: COMPANY, promoted_until: NOW, time: ago(days), type: 1, news: seq })
          .execute();
      }
    });
    const count = async (table: 'news' | 'news_entity' | 'delivery') =>
      (await store.db.selectFrom(table).selectAll().execute()).length;
    await run(store);
    expect(await count('news')).toBe(3);
    await run(store, NOW, { ...RETENTION, changes: 7, deliveries: 7, news: 7 });
    expect(await changes(store)).toEqual(['two']);
    expect([await count('delivery'), await count('news'), await count('news_entity')]).toEqual([1, 1, 1]);
  });

  it('deletes changes after 30 days if no delivery waits for them, and deliveries after 90', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' }, ago(100));
    await happened(store, 'ancient', 91);
    await end(store, 'failed');
    await happened(store, 'told', 31);
    await end(store, 'done');
    await happened(store, 'waiting', 31);
    await happened(store, 'young', 29);
    await run(store);
    expect(await changes(store)).toEqual(['waiting', 'young']);
    expect(await store.db.selectFrom('delivery').select('state').orderBy('seq').execute()).toEqual([
      { state: 'done' },
      { state: 'due' },
      { state: 'due' },
    ]);
    await end(store, 'done');
    await run(store);
    expect(await changes(store)).toEqual(['young']);
  });

  it('drops what was held for 14 days, and deletes the changes of it', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' }, ago(100));
    await happened(store, 'long ago', 31);
    await happened(store, 'old', 15);
    await happened(store, 'young', 13);
    await end(store, 'held');
    await run(store);
    const states = await store.db.selectFrom('delivery').select('state').orderBy('seq').execute();
    expect(states.map(({ state }) => state)).toEqual(['dropped', 'dropped', 'held']);
    await run(store);
    expect(await changes(store)).toEqual(['old', 'young']);
  });

  it('deletes mails after 30 days, except unsent ones and the changes they need', async () => {
    const store = await newStore(engine);
    await made(store, { url: null, target: 'all', emails: ['a@example.com'] }, ago(100));
    await happened(store, 'sent', 31);
    await happened(store, 'failed', 31);
    await happened(store, 'waiting', 31);
    await happened(store, 'young', 29);
    await store.write(async (tx) => {
      const seqs = await tx.selectFrom('mail').select('seq').orderBy('seq').execute();
      const set = (at: number, to: { sent_at?: number; failed_at?: number }) =>
        tx
          .updateTable('mail')
          .set(to)
          .where('seq', '=', seqs[at]?.seq ?? 0)
          .execute();
      await set(0, { sent_at: NOW });
      await set(1, { failed_at: NOW });
      await set(3, { sent_at: NOW });
    });
    await run(store);
    expect(await changes(store)).toEqual(['waiting', 'young']);
    expect(await store.db.selectFrom('mail').select('seq').execute()).toHaveLength(2);
  });

  it('works in several steps, and lets others write in between', async () => {
    const store = await newStore(engine);
    const page = Array.from({ length: 170 }, () => changed());
    await store.write((tx) => publish(tx, page, { now: ago(31) }));
    const running = run(store);
    await happened(store, 'new', 0);
    await running;
    expect(await changes(store)).toEqual(['new']);
  });

  it('leaves the tasks of the store to a connector of the same daemon', async () => {
    const store = await newStore(engine);
    await store.write((tx) => seedServiceHousekeeping(tx, NOW, { besideConnector: true }));
    const lanes = await store.db.selectFrom('lane').select('key').orderBy('key').execute();
    expect(lanes.map(({ key }) => key)).toEqual(['activity', 'changes', 'deliveries', 'mails', 'news', 'windows']);
  });

  it('repeats every task at its interval, and ends an unknown one', async () => {
    const store = await newStore(engine);
    const row = {
      queue: HOUSEKEEPING_QUEUE,
      key: 'unknown',
      due_at: 0,
      fence: null,
      again_at: null,
      marks: 1,
      attempts: 0,
    };
    await store.write((tx) =>
      tx
        .insertInto('lane')
        .values({ ...row, since: 0 })
        .execute(),
    );
    expect(await run(store)).toEqual([
      'activity',
      'answers',
      'audit',
      'changes',
      'checkpoint',
      'deliveries',
      'mails',
      'news',
      'old-activity',
      'quarantine',
      'sessions',
      'size',
      'unknown',
      'windows',
    ]);
    const lanes = await store.db.selectFrom('lane').select(['key', 'due_at']).orderBy('key').execute();
    const hourly = [
      'answers',
      'audit',
      'changes',
      'deliveries',
      'mails',
      'news',
      'old-activity',
      'quarantine',
      'sessions',
      'size',
      'windows',
    ].map((key) => ({
      key,
      due_at: NOW + 3_600_000,
    }));
    const everyMinute = ['activity', 'checkpoint'].map((key) => ({ key, due_at: NOW + 60_000 }));
    expect(lanes).toEqual([...hourly, ...everyMinute].toSorted((a, b) => (a.key < b.key ? -1 : 1)));
  });
});
