import type { KyselyPlugin } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parked } from '../../src/runtime/lanes/lane-state.ts';
import { type Claim, claim, counts, mark } from '../../src/runtime/lanes/lanes.ts';
import { createWakeUp, type WakeUp } from '../../src/runtime/wake-up.ts';
import type { Store } from '../../src/store/store.ts';
import { newStore } from '../support/stores.ts';
import { done, keys, names, prepared, Q, working } from './working.ts';

describe('a worker', () => {
  it('takes full batches from a backlog, and every lane once', async () => {
    const store = await newStore('sqlite');
    const batches: string[][] = [];
    const run = async (claims: readonly Claim[]) => {
      batches.push(keys(claims));
      await done(store, claims);
    };
    const { worker } = await working({ store, run }, prepared(35));
    await worker.drained();
    expect(batches.map(({ length }) => length)).toEqual([10, 10, 10, 5]);
    expect(batches.flat()).toEqual(names(35));
  });

  it('lets requests and timers in between two batches of a backlog', async () => {
    const store = await newStore('sqlite');
    let turns = 0;
    const seen: number[] = [];
    const turn = () => {
      turns += 1;
      immediate = setImmediate(turn);
    };
    let immediate = setImmediate(turn);
    onTestFinished(() => clearImmediate(immediate));
    const run = async (claims: readonly Claim[]) => {
      seen.push(turns);
      await done(store, claims);
    };
    const { worker } = await working({ store, run }, prepared(50));
    await worker.drained();
    expect(seen).toHaveLength(5);
    expect(new Set(seen).size).toBe(5);
  });

  it('runs as many batches at a time as configured', async () => {
    const store = await newStore('sqlite');
    let now = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    const run = async (claims: readonly Claim[]) => {
      most = Math.max(most, ++now);
      if (now === 3) full.resolve();
      await full.promise;
      await done(store, claims);
      now--;
    };
    const { worker } = await working({ store, run, concurrency: 3 }, prepared(100));
    await worker.drained();
    expect(most).toBe(3);
  });

  it('starts at a wake-up, long before its next poll', async () => {
    const ran = Promise.withResolvers<void>();
    const { worker, marks } = await working({ pollMs: 60_000, run: async () => ran.resolve() });
    await worker.drained();
    await marks(['a']);
    await ran.promise;
  });

  it('finds work without a wake-up, and wakes for work that becomes due', async () => {
    const ran = Promise.withResolvers<void>();
    const { store } = await working({
      pollMs: 20,
      run: async (claims) => {
        await done(store, claims);
        ran.resolve();
      },
    });
    await store.write((tx) => mark(tx, Q, ['a'], Date.now() + 60));
    await ran.promise;
  });

  it('polls often for a while after its work only if a person may wait for the result', async () => {
    let time = 0;
    const wakeUp = createWakeUp();
    const waits: number[] = [];
    const noted: WakeUp = {
      ...wakeUp,
      wait(queue, ms, ...rest) {
        waits.push(ms);
        return wakeUp.wait(queue, ms, ...rest);
      },
    };
    const ran: string[] = [];
    const { store, worker } = await working({
      ...{ wakeUp: noted, now: () => time, pollMs: 3_600_000, lingerMs: 10_000 },
      run: async (claims) => {
        await done(store, claims);
        ran.push(...keys(claims));
      },
    });
    await worker.drained();
    expect(waits).not.toContain(50);
    await store.write((tx) => mark(tx, Q, ['rung for'], 0));
    wakeUp.ring(Q);
    await expect.poll(() => ran).toEqual(['rung for']);
    await store.write((tx) => mark(tx, Q, ['not rung for'], 0));
    await expect.poll(() => ran).toEqual(['rung for', 'not rung for']);

    await expect.poll(() => waits.at(-1)).toBe(50);
    time = 10_000;
    await expect.poll(() => waits.at(-1)).toBe(Number.POSITIVE_INFINITY);
  });

  it('writes nothing while nothing is due', async () => {
    const store = await newStore('sqlite');
    let writes = 0;
    const counted: Store = {
      ...store,
      write(...args) {
        writes += 1;
        return store.write(...args);
      },
    };
    const { worker } = await working(
      { store: counted, run: async (claims) => void (await done(store, claims)) },
      prepared(1),
    );
    await worker.drained();
    const before = writes;
    await worker.drained();
    expect([before > 0, writes]).toEqual([true, before]);
  });

  it('claims all work by one write, and then polls once before it waits', async () => {
    const store = await newStore('sqlite');
    let claimed = 0;
    const asked: string[] = [];
    const noted: KyselyPlugin = {
      transformQuery({ node }) {
        asked.push(node.kind);
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const counted: Store = {
      ...store,
      db: store.db.withPlugin(noted),
      write(work, options) {
        claimed += options?.ephemeral === true ? 1 : 0;
        return store.write(work, options);
      },
    };
    const run = async (claims: readonly Claim[]) => void (await done(store, claims));
    const { worker, wakeUp } = await working({ store: counted, pollMs: 60_000, run }, prepared(3));
    await worker.drained();
    expect(claimed).toBe(1);
    asked.length = 0;
    wakeUp.ring(Q);
    await worker.drained();
    // Whoever asked for the end of all work rang, too.
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  it('polls for work of other processes once for all idle workers, and finds released lanes', async () => {
    const store = await newStore('sqlite');
    const asked: string[] = [];
    const noted: KyselyPlugin = {
      transformQuery({ node }) {
        asked.push(node.kind);
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const wakeUp = createWakeUp();
    const ran = Promise.withResolvers<readonly string[]>();
    const watched: Store = { ...store, db: store.db.withPlugin(noted) };
    for (const queue of ['one', 'two', 'three']) {
      const run = async (claims: readonly Claim[]) => ran.resolve(claims.map((each) => `${each.queue} ${each.key}`));
      const { worker } = await working({ store: watched, wakeUp, queue, pollMs: 20, run });
      await worker.drained();
    }
    // Each looks when it begins to wait; from then on one statement looks for all.
    await expect.poll(() => asked.slice(-6)).toEqual(Array.from({ length: 6 }, () => 'RawNode'));
    await store.write((tx) => mark(tx, 'two', ['a'], 0));
    await claim(store, 'two', { limit: 1, now: Date.now() - 1_000, leaseMs: 1_000 });
    expect(await ran.promise).toEqual(['two a']);
  });

  it('keeps a lease as long as the work takes', async () => {
    const store = await newStore('sqlite');
    let ends = 0;
    const run = async (claims: readonly Claim[]) => {
      const until = Date.now() + 4_800;
      while (Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 80));
        expect(await claim(store, Q, { limit: 10, now: Date.now(), leaseMs: 1_000 })).toEqual([]);
      }
      ends += (await done(store, claims)).size;
    };
    const { worker, errors } = await working({ store, run, leaseMs: 2_400 }, prepared(3));
    await worker.drained();
    expect(ends).toBe(3);
    expect(errors).toEqual([]);
  });

  it('retries the lanes of a run that threw one by one, so that one poison lane blocks no other', async () => {
    const store = await newStore('sqlite');
    const runs: string[][] = [];
    const run = async (claims: readonly Claim[]) => {
      runs.push(keys(claims));
      if (keys(claims).includes('lane 001')) throw new Error('a bug');
      await done(store, claims);
    };
    let clock = 1_000_000;
    const { worker, errors, wakeUp } = await working({ store, run, now: () => clock }, prepared(4, 999_000));
    await worker.drained();
    expect(runs).toEqual([names(4)]);
    expect(errors).toEqual(['a run failed']);
    clock += 1_300;
    wakeUp.ring(Q);
    await worker.drained();
    expect(runs.slice(1).map(({ length }) => length)).toEqual([1, 1, 1, 1]);
    expect(await store.db.selectFrom('lane').select(['key', 'attempts', 'error']).execute()).toEqual([
      { key: 'lane 001', attempts: 2, error: 'a bug' },
    ]);
  });

  it('leaves lanes that a failing run had settled as they are', async () => {
    const store = await newStore('sqlite');
    const run = async (claims: readonly Claim[]) => {
      await done(store, claims.slice(0, 2));
      throw new Error('after two');
    };
    const { worker } = await working({ store, run }, prepared(3));
    await worker.drained();
    expect(await store.db.selectFrom('lane').select('key').execute()).toEqual([{ key: 'lane 002' }]);
  });

  it('parks a lane that failed for three days', async () => {
    const store = await newStore('sqlite');
    let clock = 1_000_000;
    let tries = 0;
    const run = async () => {
      tries++;
      throw new Error('a bug');
    };
    const { worker, wakeUp } = await working({ store, run, now: () => clock }, prepared(1, 999_000));
    while ((await parked(store.db)).length === 0) {
      clock += 3_600_000;
      wakeUp.ring(Q);
      await worker.drained();
    }
    expect(tries).toBeGreaterThan(70);
    expect(tries).toBeLessThan(74);
    expect(await parked(store.db)).toMatchObject([{ key: 'lane 000', error: 'a bug' }]);
  });

  it('claims nothing while the account is paused', async () => {
    let until = Date.now() + 60_000;
    const store = await newStore('sqlite');
    const { worker } = await working({ store, blockedUntil: () => until, pollMs: 10 }, prepared(3));
    const drained = worker.drained();
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await counts(store.db, Date.now())).toMatchObject([{ ready: 3, leased: 0 }]);
    until = 0;
    await drained;
    expect(await counts(store.db, Date.now())).toEqual([]);
  });

  it('waits for a full batch behind a full one, up to a deadline', async () => {
    const store = await newStore('sqlite');
    const sizes: number[] = [];
    const first = Promise.withResolvers<void>();
    const run = async (claims: readonly Claim[]) => {
      sizes.push(claims.length);
      if (sizes.length === 1) await first.promise;
      await done(store, claims);
    };
    const { worker, marks } = await working({ store, run, gather: 1_500 }, prepared(13));
    while (sizes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    first.resolve();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await marks(Array.from({ length: 7 }, (_, i) => `more ${i}`));
    await worker.drained();
    expect(sizes).toEqual([10, 10]);
  });

  it('survives a store that fails, and continues when it is back', async () => {
    const real = await newStore('sqlite');
    let down = true;
    const store: Store = {
      ...real,
      write: (work) => (down ? Promise.reject(new Error('store is down')) : real.write(work)),
    };
    const { worker, errors } = await working({ store, pollMs: 10 }, () => real.write((tx) => mark(tx, Q, ['a'], 0)));
    while (errors.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(errors[0]).toBe('could not claim work: trying again');
    down = false;
    await worker.drained();
    expect(await counts(real.db, 0)).toEqual([]);
  });
});
