import { describe, expect, it } from 'vitest';
import { drop, parked, unpark } from '../../../src/runtime/lanes/lane-state.ts';
import { type Claim, claim, counts, held, mark, renew, settle, settleAll } from '../../../src/runtime/lanes/lanes.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

const Q = 'sync:crm';
const lease = { limit: 100, leaseMs: 1_000 };

const marked = (store: Store, keys: readonly string[], at: number) => store.write((tx) => mark(tx, Q, keys, at));
const take = (store: Store, now: number, limit = 100) => claim(store, Q, { ...lease, limit, now });
const one = async (store: Store, now: number): Promise<Claim> => {
  const [found] = await take(store, now, 1);
  if (found === undefined) throw new Error('nothing was due');
  return found;
};
const keys = (claims: readonly Claim[]) => claims.map(({ key }) => key);

describe.each(ENGINES)('lanes on %s', (engine) => {
  it('are claimed once, oldest first, when they are due', async () => {
    const store = await newStore(engine);
    await marked(store, ['late'], 300);
    await marked(store, ['b', 'a', 'b'], 100);
    await marked(store, ['first'], 50);
    expect(await take(store, 49)).toEqual([]);
    expect(keys(await take(store, 100, 2))).toEqual(['first', 'a']);
    expect(keys(await take(store, 100))).toEqual(['b']);
    expect(await take(store, 100)).toEqual([]);
  });

  it('can be claimed by name', async () => {
    const store = await newStore(engine);
    await marked(store, ['a', 'b', 'c'], 0);
    expect(keys(await claim(store, Q, { ...lease, now: 0, keys: ['c', 'x'] }))).toEqual(['c']);
    expect(await claim(store, Q, { ...lease, now: 0, keys: [] })).toEqual([]);
  });

  it('take any number of marks at once', async () => {
    const store = await newStore(engine);
    const many = Array.from({ length: 25_000 }, (_, i) => `CVR-1-${i}`);
    await marked(store, many, 0);
    const claims = await take(store, 0, 25_000);
    expect(claims.length).toBe(25_000);
    const settled = await store.write((tx) =>
      settleAll(
        tx,
        claims.map((c, i) => [c, i % 2 ? { kind: 'done' } : { kind: 'again', at: 5 }]),
      ),
    );
    expect(settled.size).toBe(25_000);
    expect(await counts(store.db, 5)).toMatchObject([{ ready: 12_500, leased: 0 }]);
  });

  it('end when done, and leave nothing behind', async () => {
    const store = await newStore(engine);
    await marked(store, ['a'], 0);
    const claimed = await one(store, 0);
    expect(await store.write((tx) => settle(tx, claimed, { kind: 'done' }))).toBe(true);
    expect(await store.db.selectFrom('lane').selectAll().execute()).toEqual([]);
    expect(await store.write((tx) => settle(tx, claimed, { kind: 'done' }))).toBe(false);
  });

  it('run again when they were marked while they ran, at the time of that mark', async () => {
    const store = await newStore(engine);
    await marked(store, ['a'], 0);
    const claimed = await one(store, 0);
    await marked(store, ['a'], 70);
    await marked(store, ['a'], 60);
    expect(await take(store, 100)).toEqual([]);
    await store.write((tx) => settle(tx, claimed, { kind: 'done' }));
    expect(await take(store, 59)).toEqual([]);
    expect(await take(store, 60)).toMatchObject([{ key: 'a', attempts: 0, since: 60 }]);
  });

  it('come due at the earliest of several marks, but keep their back-off', async () => {
    const store = await newStore(engine);
    await marked(store, ['a'], 500);
    await marked(store, ['a'], 200);
    await marked(store, ['a'], 400);
    expect(await take(store, 199)).toEqual([]);
    const first = await one(store, 200);
    await store.write((tx) => settle(tx, first, { kind: 'again', at: 900, error: 'busy' }));
    await marked(store, ['a'], 300);
    expect(await take(store, 899)).toEqual([]);
    expect(await take(store, 900)).toMatchObject([{ attempts: 1, since: 500 }]);
  });

  it('count failures, but not free waits, and start over after a success of a periodic lane', async () => {
    const store = await newStore(engine);
    await marked(store, ['a'], 0);
    const again = async (now: number, how: { free?: true; fresh?: true }) => {
      const claimed = await one(store, now);
      await store.write((tx) => settle(tx, claimed, { kind: 'again', at: now + 1, ...how }));
      return claimed;
    };
    await again(0, {});
    expect(await again(1, { free: true })).toMatchObject({ attempts: 1, since: 0 });
    expect(await again(2, { fresh: true })).toMatchObject({ attempts: 1, since: 0 });
    expect(await one(store, 3)).toMatchObject({ attempts: 0, since: 3 });
  });

  it('are taken over when their lease ends, and the old owner settles nothing', async () => {
    const store = await newStore(engine);
    await marked(store, ['a'], 0);
    const old = await one(store, 0);
    expect(await take(store, 999)).toEqual([]);
    const heir = await one(store, 1_000);
    expect(heir.fence).not.toBe(old.fence);
    expect(await store.write((tx) => held(tx, [old]))).toEqual(new Set());
    expect(await renew(store, [old], 9_000)).toEqual(new Set());
    expect(await store.write((tx) => settle(tx, old, { kind: 'done' }))).toBe(false);
    expect(await store.write((tx) => held(tx, [heir]))).toEqual(new Set(['a']));
    expect(await store.write((tx) => settle(tx, heir, { kind: 'done' }))).toBe(true);
    expect(await counts(store.db, 0)).toEqual([]);
  });

  it('do not run again for marks that came before their last claim', async () => {
    const store = await newStore(engine);
    await marked(store, ['a'], 0);
    await one(store, 0);
    await marked(store, ['a'], 5);
    const heir = await one(store, 1_000);
    await marked(store, ['a'], 2_000);
    await store.write((tx) => settle(tx, heir, { kind: 'done' }));
    expect(await take(store, 1_999)).toEqual([]);
    expect(keys(await take(store, 2_000))).toEqual(['a']);
  });

  it('that ended and began again are not mistaken for the claimed ones', async () => {
    const store = await newStore(engine);
    await marked(store, ['a'], 0);
    const old = await one(store, 0);
    const heir = await one(store, 1_000);
    await store.write((tx) => settle(tx, heir, { kind: 'done' }));
    await marked(store, ['a'], 1_000);
    const newer = await one(store, 1_000);
    expect(newer.marks).toBe(old.marks);
    expect(await store.write((tx) => settle(tx, old, { kind: 'done' }))).toBe(false);
    expect(await store.write((tx) => settle(tx, newer, { kind: 'done' }))).toBe(true);
  });

  it('stay held as long as they are renewed', async () => {
    const store = await newStore(engine);
    await marked(store, ['a', 'b'], 0);
    const claims = await take(store, 0);
    expect(await renew(store, claims, 5_000)).toEqual(new Set(['a', 'b']));
    expect(await take(store, 4_999)).toEqual([]);
    expect(keys(await take(store, 5_000))).toEqual(['a', 'b']);
  });

  it('stay parked until somebody marks, un-parks or drops them', async () => {
    const store = await newStore(engine);
    await marked(store, ['a', 'b', 'c'], 0);
    const claims = await take(store, 0);
    await store.write((tx) =>
      settleAll(
        tx,
        claims.map((each) => [each, { kind: 'parked', at: 7, error: 'no such field' }]),
      ),
    );
    expect(await take(store, 1e9)).toEqual([]);
    expect(await parked(store.db, Q)).toMatchObject([
      { key: 'a', error: 'no such field', parkedAt: 7, attempts: 1 },
      { key: 'b' },
      { key: 'c' },
    ]);
    expect(await parked(store.db, 'other')).toEqual([]);
    await marked(store, ['a'], 20);
    expect(await store.write((tx) => unpark(tx, Q, 'b', 10))).toBe(true);
    expect(await store.write((tx) => drop(tx, Q, 'c'))).toMatchObject({ key: 'c', error: 'no such field' });
    expect(await store.write((tx) => unpark(tx, Q, 'b', 10))).toBe(false);
    expect(await store.write((tx) => drop(tx, Q, 'a'))).toBeUndefined();
    expect(await take(store, 20)).toMatchObject([
      { key: 'b', attempts: 0, since: 10 },
      { key: 'a', attempts: 0, since: 20 },
    ]);
    expect(await parked(store.db)).toEqual([]);
  });

  it('are not parked if they were marked while they ran', async () => {
    const store = await newStore(engine);
    await marked(store, ['a'], 0);
    const claimed = await one(store, 0);
    await marked(store, ['a'], 5);
    await store.write((tx) => settle(tx, claimed, { kind: 'parked', at: 6, error: 'x' }));
    expect(await take(store, 6)).toMatchObject([{ key: 'a', attempts: 0 }]);
  });

  it('settle in the transaction of the effects: together or not at all', async () => {
    const store = await newStore(engine);
    await marked(store, ['a'], 0);
    const claimed = await one(store, 0);
    const crash = store.write(async (tx) => {
      await settle(tx, claimed, { kind: 'done' });
      throw new Error('crash');
    });
    await expect(crash).rejects.toThrow('crash');
    expect(await store.write((tx) => held(tx, [claimed]))).toEqual(new Set(['a']));
  });

  it('are counted by state', async () => {
    const store = await newStore(engine);
    await marked(store, ['a', 'b', 'c'], 10);
    await marked(store, ['later'], 900);
    await store.write((tx) => mark(tx, 'apply', ['x'], 3));
    const [first, second] = await take(store, 10, 2);
    if (first === undefined || second === undefined) throw new Error('two were due');
    await store.write((tx) => settle(tx, first, { kind: 'parked', at: 11, error: 'x' }));
    expect(await counts(store.db, 20)).toEqual([
      { queue: 'apply', ready: 1, waiting: 0, leased: 0, parked: 0, oldestSince: 3 },
      { queue: Q, ready: 1, waiting: 1, leased: 1, parked: 1, oldestSince: 10 },
    ]);
  });
});
