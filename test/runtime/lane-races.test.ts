/** Races of two connections: PostgreSQL, READ COMMITTED. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Claim, claim, counts, held, mark, settle, settleAll, wake } from '../../src/runtime/lanes/lanes.ts';
import type { Store, Tx } from '../../src/store/store.ts';
import { ENGINES, newStore, newStoreUrl, opened } from '../support/stores.ts';

const Q = 'apply';
const options = { limit: 100, now: 10, leaseMs: 1_000 };

const receipt = (tx: Tx, key: string, dedupe: string) =>
  tx
    .insertInto('receipt')
    .values({ entity: key, dedupe_key: dedupe, timestamp: 't', body: dedupe, received_at: 0 })
    .returning('seq')
    .executeTakeFirstOrThrow();

/** Opens a transaction that does its work and then stays open until it is let go. */
async function holding<T>(store: Store, work: (tx: Tx) => Promise<T>): Promise<{ commit(): Promise<T> }> {
  const worked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const done = store.write(async (tx) => {
    const result = await work(tx);
    worked.resolve();
    await gate.promise;
    return result;
  });
  await Promise.race([worked.promise, done]);
  return {
    commit() {
      gate.resolve();
      return done;
    },
  };
}

/** A lane that waits until then, and says why. */
async function waiting(store: Store, queue: string, at: number): Promise<void> {
  await store.write((tx) => mark(tx, queue, ['a'], 0));
  const [claimed] = await claim(store, queue, options);
  if (claimed === undefined) throw new Error('a was due');
  await store.write((tx) => settle(tx, claimed, { kind: 'again', at, error: 'it waits for this', fresh: true }));
}

/** Waits until some connection waits for a lock of another one. */
async function blocked(store: Store): Promise<void> {
  for (;;) {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(store.db);
    if (rows.length > 0) return;
    await sleep(5);
  }
}

describe('two connections on one lane', () => {
  it('leave no event without a lane: an uncommitted mark is waited for before the lane may end', async () => {
    const url = await newStoreUrl('postgres');
    const [receiver, worker] = [await opened(url), await opened(url)];
    await receiver.write((tx) => mark(tx, Q, ['a'], 0));
    const [claimed] = await claim(worker, Q, options);
    if (claimed === undefined) throw new Error('a was due');
    const receiving = await holding(receiver, async (tx) => {
      await mark(tx, Q, ['a'], 5);
      await receipt(tx, 'a', 'second');
    });
    const settling = worker.write((tx) => settle(tx, claimed, { kind: 'done' }));
    await blocked(receiver);
    await receiving.commit();
    expect(await settling).toBe(true);
    expect(await claim(worker, Q, options)).toMatchObject([{ key: 'a' }]);
  });

  it('leave no event without a lane: a mark during the end of a lane begins a new one', async () => {
    const url = await newStoreUrl('postgres');
    const [receiver, worker] = [await opened(url), await opened(url)];
    await receiver.write((tx) => mark(tx, Q, ['a'], 0));
    const [claimed] = await claim(worker, Q, options);
    if (claimed === undefined) throw new Error('a was due');
    const settling = await holding(worker, (tx) => settle(tx, claimed, { kind: 'done' }));
    const marking = receiver.write((tx) => mark(tx, Q, ['a'], 5));
    await blocked(receiver);
    expect(await settling.commit()).toBe(true);
    await marking;
    expect(await claim(worker, Q, options)).toMatchObject([{ key: 'a', marks: 1 }]);
  });

  it('number the events of a lane in the order they are committed, when it is marked first', async () => {
    const url = await newStoreUrl('postgres');
    const [one, two] = [await opened(url), await opened(url)];
    const first = await holding(one, async (tx) => {
      await mark(tx, Q, ['a'], 0);
      return (await receipt(tx, 'a', 'first')).seq;
    });
    let committed = false;
    const second = two.write(async (tx) => {
      await mark(tx, Q, ['a'], 0);
      expect(committed).toBe(true);
      return (await receipt(tx, 'a', 'second')).seq;
    });
    await blocked(one);
    committed = true;
    const seq = await first.commit();
    expect(await second).toBeGreaterThan(seq);
  });

  it('never wait for each other, in whatever order they name their lanes', async () => {
    const url = await newStoreUrl('postgres');
    const stores = [await opened(url), await opened(url), await opened(url)] as const;
    const names = Array.from({ length: 200 }, (_, i) => `CVR-1-${i}`);
    await stores[0].write((tx) => mark(tx, Q, names, 0));
    const claims = await claim(stores[0], Q, { ...options, limit: 200 });
    const before = await deadlocks(stores[0]);
    const backwards = [...claims].reverse();
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        await stores[0].write((tx) => mark(tx, Q, i % 2 ? names : names.toReversed(), 0));
        await stores[1].write((tx) => mark(tx, Q, i % 2 ? names.toReversed() : names, 0));
        await stores[2].write((tx) => held(tx, i % 2 ? claims : backwards));
      }),
    );
    await stores[2].write((tx) =>
      settleAll(
        tx,
        backwards.map((each) => [each, { kind: 'done' }]),
      ),
    );
    expect(await deadlocks(stores[0])).toBe(before);
  });

  it('wake lanes without waiting for marks in another order', async () => {
    const url = await newStoreUrl('postgres');
    const [marker, waker] = [await opened(url), await opened(url)];
    for (const queue of ['note:crm', 'sync:crm']) await waiting(marker, queue, 9_000);
    let tries = 0;
    let waking: Promise<void> | undefined;
    await marker.write(async (tx) => {
      tries++;
      await mark(tx, 'sync:crm', ['a'], 0);
      waking ??= waker.write((other) => {
        tries++;
        return wake(other, ['note:crm', 'sync:crm'], ['a'], { dueAt: 2_000, because: 'it waits' });
      });
      await Promise.race([waking, blocked(marker)]);
      await mark(tx, 'note:crm', ['a'], 0);
    });
    await waking;
    expect(tries).toBe(2);
    expect(await marker.db.selectFrom('lane').select('due_at').execute()).toEqual([{ due_at: 0 }, { due_at: 0 }]);
  });

  it('leave a lane parked that is parked while it is woken', async () => {
    const url = await newStoreUrl('postgres');
    const [worker, waker] = [await opened(url), await opened(url)];
    await waiting(worker, Q, 10);
    const [claimed] = await claim(worker, Q, options);
    if (claimed === undefined) throw new Error('a was due');
    const parking = await holding(worker, (tx) => settle(tx, claimed, { kind: 'parked', at: 10, error: 'refused' }));
    const waking = waker.write((tx) => wake(tx, [Q], ['a'], { dueAt: 5, because: 'it waits' }));
    await Promise.race([waking, blocked(worker)]);
    await parking.commit();
    await waking;
    expect(await worker.db.selectFrom('lane').select('parked_at').execute()).toEqual([{ parked_at: 10 }]);
  });

  it('repeat a transaction that PostgreSQL ended for a deadlock', async () => {
    const store = await newStore('postgres');
    await store.write((tx) => mark(tx, Q, ['a', 'b'], 0));
    let tries = 0;
    const both = Promise.withResolvers<void>();
    let arrived = 0;
    const cross = (from: string, to: string) =>
      store.write(async (tx) => {
        tries++;
        await mark(tx, Q, [from], 0);
        if (++arrived === 2) both.resolve();
        await both.promise;
        await mark(tx, Q, [to], 0);
      });
    await Promise.all([cross('a', 'b'), cross('b', 'a')]);
    expect(tries).toBe(3);
    expect(await store.db.selectFrom('lane').select('marks').execute()).toEqual([{ marks: 3 }, { marks: 3 }]);
  });
});

async function deadlocks(store: Store): Promise<number> {
  await sql`select pg_stat_clear_snapshot(), pg_stat_force_next_flush()`.execute(store.db);
  const { rows } = await sql<{ deadlocks: number }>`select deadlocks from pg_stat_database
    where datname = current_database()`.execute(store.db);
  return rows[0]?.deadlocks ?? 0;
}

const finish = (store: Store, claims: readonly Claim[]) =>
  store.write((tx) =>
    settleAll(
      tx,
      claims.map((each) => [each, { kind: 'done' }]),
    ),
  );

/** Claims and finishes lanes until so many were done; `busy` holds the keys that somebody works on. */
async function workUntil(store: Store, all: number, busy: Set<string>, done: Map<string, number>): Promise<void> {
  for (;;) {
    const claims = await claim(store, Q, { ...options, limit: 40 });
    // Lanes that another claimer looked at in the same moment are passed over: empty hands do not mean the end.
    if (claims.length === 0 && done.size === all) return;
    expect(claims.filter(({ key }) => busy.has(key))).toEqual([]);
    for (const { key } of claims) busy.add(key);
    await finish(store, claims);
    for (const { key } of claims) busy.delete(key);
    for (const { key } of claims) done.set(key, (done.get(key) ?? 0) + 1);
  }
}

describe.each(ENGINES)('many claimers on %s', (engine) => {
  it('share the lanes without ever holding the same one, and finish them all', async () => {
    const url = await newStoreUrl(engine);
    const stores = [await opened(url), await opened(url), await opened(url), await opened(url)];
    const names = Array.from({ length: 1_500 }, (_, i) => `CVR-1-${i}`);
    await stores[0]?.write((tx) => mark(tx, Q, names, 0));
    const busy = new Set<string>();
    const done = new Map<string, number>();
    await Promise.all(stores.map((store) => workUntil(store, names.length, busy, done)));
    expect([...done.values()].every((times) => times === 1)).toBe(true);
    expect(await counts(stores[0]?.db ?? never(), 0)).toEqual([]);
  });
});

function never(): never {
  throw new Error('four stores were opened');
}
