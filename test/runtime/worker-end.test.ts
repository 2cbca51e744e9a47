/** When a worker has nothing left to do, and what becomes of its work when it must end. */
import { describe, expect, it } from 'vitest';
import { type Claim, counts, mark } from '../../src/runtime/lanes/lanes.ts';
import { StrayError } from '../../src/runtime/stray-error.ts';
import type { Store } from '../../src/store/store.ts';
import { newStore } from '../support/stores.ts';
import { done, prepared, Q, working } from './working.ts';

describe('a worker that is waited for', () => {
  it('is not drained while a lane is due that a run made due during a claim', async () => {
    const store = await newStore('sqlite');
    const claimed = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    let isWatched = false;
    /** A claim that finds nothing hears of it only later. */
    const slow: Store = {
      ...store,
      async write(work, options) {
        const found = await store.write(work, options);
        if (options?.ephemeral !== true || !isWatched) return found;
        isWatched = false;
        claimed.resolve();
        await answer.promise;
        return found;
      },
    };
    let runs = 0;
    const run = async (claims: readonly Claim[]) => {
      runs += 1;
      if (runs === 1) {
        await claimed.promise;
        await store.write((tx) => mark(tx, Q, ['a'], Date.now()));
      }
      await done(store, claims);
      ended.resolve();
    };
    // With something to prepare, a worker claims though no lane is due.
    const prepare = { run: async () => () => {}, isNeeded: async () => true };
    const { worker, marks } = await working({ store: slow, concurrency: 2, run, prepare });
    await marks(['a']);
    await expect.poll(() => runs).toBe(1);
    isWatched = true;
    const drained = worker.drained();
    await ended.promise;
    // By now the worker knows of the end.
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer.resolve();
    await drained;
    expect(runs).toBe(2);
  });
});

describe('a worker that is stopped', () => {
  it('retries what a stray error cut off at growing intervals, because one of the lanes may be the cause', async () => {
    const begun = Promise.withResolvers<void>();
    const run = (_claims: readonly Claim[], signal: AbortSignal) => {
      begun.resolve();
      return new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const { store, worker, errors } = await working({ run, now: () => 1_000 }, prepared(1));
    await begun.promise;
    await worker.stop(0, new StrayError(new TypeError('boom')));
    const lane = await store.db.selectFrom('lane').select(['due_at', 'attempts', 'error']).executeTakeFirst();
    expect(lane).toMatchObject({ attempts: 1, error: 'the process ended: boom' });
    expect(lane?.due_at).toBeGreaterThanOrEqual(2_000);
    expect(errors).toEqual([]);
  });

  it('waits for running work, and claims no more', async () => {
    const store = await newStore('sqlite');
    const started = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const run = async (claims: readonly Claim[]) => {
      started.resolve();
      await gate.promise;
      await done(store, claims);
    };
    const { worker } = await working({ store, run }, prepared(25));
    await started.promise;
    const stopped = worker.stop(10_000);
    gate.resolve();
    await stopped;
    expect(await counts(store.db, Date.now())).toMatchObject([{ ready: 15, leased: 0 }]);
  });

  it('aborts what runs too long, and releases its lanes at once', async () => {
    const store = await newStore('sqlite');
    const started = Promise.withResolvers<void>();
    const run = (_: readonly Claim[], signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        started.resolve();
      });
    const { worker, errors } = await working({ store, run }, prepared(3));
    await started.promise;
    await worker.stop(20);
    expect(await counts(store.db, Date.now())).toMatchObject([{ ready: 3, leased: 0 }]);
    expect(await store.db.selectFrom('lane').select('attempts').distinct().execute()).toEqual([{ attempts: 0 }]);
    expect(errors).toEqual([]);
  });
});
