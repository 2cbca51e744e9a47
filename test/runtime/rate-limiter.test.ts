import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { needsPerson, readBlocks } from '../../src/runtime/limits/blocks.ts';
import { createRateLimiter } from '../../src/runtime/limits/rate-limiter.ts';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, newStoreUrl, opened } from '../support/stores.ts';
import { mostInAnyWindow } from '../support/windows.ts';

const live = new AbortController().signal;
const account = (store: Store, budget = { calls: 1_000, perMs: 1_000 }) =>
  createRateLimiter({ store, key: 'crm', budgets: { calls: budget }, now: Date.now });

async function pair(engine: (typeof ENGINES)[number]): Promise<readonly [Store, Store]> {
  const url = await newStoreUrl(engine);
  return [await opened(url), await opened(url)];
}

describe.each(ENGINES)('the rate limiter of an account on %s', (engine) => {
  it('is shared by all processes', async () => {
    const stores = await pair(engine);
    const budget = { calls: 40, perMs: 800 };
    const granted: number[] = [];
    const start = Date.now();
    await Promise.all(
      stores.map(async (store) => {
        const rateLimiter = account(store, budget);
        const call = async () => {
          await rateLimiter.acquire('calls', live);
          granted.push(Date.now());
        };
        await Promise.all(Array.from({ length: 40 }, call));
      }),
    );
    expect(granted.length).toBe(80);
    expect(mostInAnyWindow(granted, budget.perMs)).toBeLessThanOrEqual(budget.calls);
    expect(Date.now() - start).toBeGreaterThan(1_500);
  });

  it('lets a write whose record was just read go before waiting calls', async () => {
    const [store] = await pair(engine);
    const rateLimiter = account(store, { calls: 20, perMs: 1_000 });
    const order: string[] = [];
    const call = async (name: string, place: 'first' | 'last') => {
      await rateLimiter.acquire('calls', live, place);
      order.push(name);
    };
    await Promise.all([call('read', 'last'), call('another read', 'last'), call('write', 'first')]);
    expect(order.indexOf('write')).toBeLessThan(order.indexOf('another read'));
  });

  it.each([
    ['1e9 calls a second', { calls: 1e9, perMs: 1_000 }],
    ['more calls a day than a number can count', { calls: Number.MAX_SAFE_INTEGER, perMs: 86_400_000 }],
    ['all calls at once', { calls: Number.MAX_VALUE, perMs: 1_000 }],
  ])('allows calls whose budget is %s', async (_what, budget) => {
    const [store] = await pair(engine);
    const rateLimiter = account(store, budget);
    await Promise.all(Array.from({ length: 50 }, () => rateLimiter.acquire('calls', live)));
    await Promise.all(Array.from({ length: 50 }, () => rateLimiter.acquire('calls', live)));
  });

  it('allows calls at once after a rest', async () => {
    const [store] = await pair(engine);
    const rateLimiter = account(store, { calls: 1, perMs: 60_000 });
    await rateLimiter.acquire('calls', live);
  });

  it('stops all processes within a second of a block, and continues after it', async () => {
    const [one, two] = await pair(engine);
    const [blocking, other] = [account(one), account(two)];
    await other.acquire('calls', live);
    const until = Date.now() + 900;
    await blocking.block(until, 'told to wait');
    await blocking.block(until - 500, 'shorter');
    expect(await other.blockedUntil()).toEqual({ until, reason: 'told to wait' });
    await Promise.all([blocking.acquire('calls', live), other.acquire('calls', live)]);
    expect(Date.now()).toBeGreaterThanOrEqual(until);
    expect(await other.blockedUntil()).toBeUndefined();
  });

  it('applies a block from another process between calls', async () => {
    const [one, two] = await pair(engine);
    const [blocking, other] = [account(one), account(two)];
    let granted = 0;
    const stop = new AbortController();
    const calling = (async () => {
      for (;;) {
        await other.acquire('calls', stop.signal);
        granted++;
      }
    })().catch(() => {});
    while (granted < 5) await sleep(5);
    await blocking.block(Date.now() + 60_000, 'daily limit');
    const grantedMeanwhile = async () => {
      const before = granted;
      await sleep(300);
      return granted - before;
    };
    await expect.poll(grantedMeanwhile, { timeout: 30_000 }).toBe(0);
    stop.abort();
    await calling;
  });

  it('keeps a block over a restart, until somebody clears it', async () => {
    const url = await newStoreUrl(engine);
    const first = await opened(url);
    const until = Date.now() + 60_000;
    await account(first).block(until, 'signed out');
    await first.close();
    const second = account(await opened(url));
    expect(await second.blockedUntil()).toEqual({ until, reason: 'signed out' });
    const waiting = second.acquire('calls', live);
    await second.clear();
    await waiting;
  });

  it('keeps a block from a fast clock for its own length once the clock is right', async () => {
    const [one, two] = await pair(engine);
    let time = Date.UTC(2027, 10, 25);
    const open = (store: Store) => createRateLimiter({ store, key: 'crm', budgets: {}, now: () => time });
    const [blocking, other] = [open(one), open(two)];
    await blocking.block(time + 10_000, 'told to wait');
    time = Date.UTC(2026, 10, 25);
    const until = time + 10_000;
    const [seen] = await readBlocks(two.db, time);
    expect([seen?.since, seen?.until, seen && needsPerson(seen)]).toEqual([time, until, false]);
    expect(await other.blockedUntil()).toEqual({ until, reason: 'told to wait' });
    time += 9_000;
    expect(await blocking.blockedUntil()).toEqual({ until, reason: 'told to wait' });
    // Another one that follows counts, too, and a person hears of a long one.
    await blocking.block(time + 3_600_000, 'daily limit');
    expect((await readBlocks(one.db, time)).map(needsPerson)).toEqual([true]);
    time += 3_600_000;
    expect(await other.blockedUntil()).toBeUndefined();
  });

  it('leaves a block of a machine with a slightly fast clock as it is', async () => {
    const [one, two] = await pair(engine);
    const now = Date.now();
    const ahead = createRateLimiter({ store: one, key: 'crm', budgets: {}, now: () => now + 60_000 });
    await ahead.block(now + 90_000, 'told to wait');
    expect(await account(two).blockedUntil()).toEqual({ until: now + 90_000, reason: 'told to wait' });
  });

  it('rejects waiting calls if a block lasts longer than they may wait', async () => {
    const [store] = await pair(engine);
    const budgets = { calls: { calls: 100, perMs: 1_000 } };
    const rateLimiter = createRateLimiter({ store, key: 'crm', budgets, now: Date.now, patienceMs: 500 });
    await rateLimiter.block(Date.now() + 200, 'a moment');
    await rateLimiter.acquire('calls', live);
    const until = Date.now() + 60_000;
    await rateLimiter.block(until, 'signed out');
    await expect(rateLimiter.acquire('calls', live)).rejects.toMatchObject({ message: 'signed out', until });
  });

  it('postpones the next call if few remain', async () => {
    const [one, two] = await pair(engine);
    const until = Date.now() + 300;
    await account(one).slow('calls', until);
    await account(one).slow('calls', until - 200);
    await account(two).acquire('calls', live);
    expect(Date.now()).toBeGreaterThanOrEqual(until);
  });

  it('drops callers that stop waiting, and serves the others', async () => {
    const [store] = await pair(engine);
    const rateLimiter = account(store, { calls: 10, perMs: 1_000 });
    await rateLimiter.acquire('calls', live);
    const gone = new AbortController();
    const leaving = rateLimiter.acquire('calls', gone.signal);
    const staying = rateLimiter.acquire('calls', live);
    gone.abort(new Error('no longer needed'));
    await expect(leaving).rejects.toThrow('no longer needed');
    await staying;
    await expect(rateLimiter.acquire('calls', AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    await expect(async () => rateLimiter.acquire('searches', live)).rejects.toThrow(
      'crm has no call budget named searches',
    );
  });

  it('allows no call while the store cannot be written', async () => {
    const [store] = await pair(engine);
    const rateLimiter = account(store);
    await store.close();
    await expect(rateLimiter.acquire('calls', live)).rejects.toThrow();
  });
});
