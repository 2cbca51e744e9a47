/** The rate limiter with a clock that the test controls. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRateLimiter, type RateLimiter } from '../../src/runtime/limits/rate-limiter.ts';
import type { Store } from '../../src/store/store.ts';
import { runs } from '../support/all.ts';
import { newStore } from '../support/stores.ts';
import { mostInAnyWindow } from '../support/windows.ts';

const live = new AbortController().signal;
let store: Store;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 1_785_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const rateLimiter = (calls: number, perMs: number, paired = ''): RateLimiter =>
  createRateLimiter({ store, key: 'crm', budgets: { calls: { calls, perMs } }, now: Date.now, paired });

const patterns = fc.record({
  calls: fc.integer({ min: 1, max: 60 }),
  perMs: fc.constantFrom(1_000, 2_500, 10_000),
  steps: fc.array(
    fc.record({
      /** Who asks: one of two processes. */
      who: fc.nat(1),
      count: fc.nat(30),
      wait: fc.nat(3_000),
      /** How long the process then stands still, so that its timers are late. */
      lag: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(400) }),
      /** How long after the first call of a pair the second one comes. */
      follows: fc.nat(1_500),
      inPairs: fc.boolean(),
    }),
    { maxLength: 15 },
  ),
});

it('no window ever holds more calls than the limit, however they are requested and however late timers are', async () => {
  store = await newStore('sqlite');
  await fc.assert(
    fc.asyncProperty(patterns, async ({ calls, perMs, steps }) => {
      await store.write((tx) => tx.deleteFrom('rate_limit').execute());
      const both = [rateLimiter(calls, perMs), rateLimiter(calls, perMs)];
      const granted: number[] = [];
      const stop = new AbortController();
      let asked = 0;
      for (const { who, count, wait, lag } of steps) {
        for (let i = 0; i < count; i++) {
          asked++;
          both[who]?.acquire('calls', stop.signal).then(
            () => granted.push(Date.now()),
            () => {},
          );
        }
        await vi.advanceTimersByTimeAsync(wait);
        vi.setSystemTime(Date.now() + lag);
      }
      const inTime = granted.length;
      await vi.advanceTimersByTimeAsync(4 * perMs);
      expect(mostInAnyWindow(granted, perMs)).toBeLessThanOrEqual(calls);
      // Who waits is served: not all perhaps, but the pace goes on.
      if (inTime < asked) expect(granted.length).toBeGreaterThan(inTime);
      stop.abort();
      await vi.advanceTimersByTimeAsync(0);
    }),
    { numRuns: runs(40) },
  );
});

it('no window ever holds more calls than the limit if some come in pairs, whenever the second one comes', async () => {
  store = await newStore('sqlite');
  await fc.assert(
    fc.asyncProperty(patterns, async ({ calls, perMs, steps }) => {
      await store.write((tx) => tx.deleteFrom('rate_limit').execute());
      const both = [rateLimiter(calls, perMs, 'calls'), rateLimiter(calls, perMs, 'calls')];
      const granted: number[] = [];
      const stop = new AbortController();
      const call = async (by: RateLimiter | undefined, follows: number | undefined) => {
        const second =
          follows === undefined ? await by?.acquire('calls', stop.signal) : await by?.acquirePair('calls', stop.signal);
        granted.push(Date.now());
        if (typeof second !== 'object' || follows === undefined) return;
        await new Promise((resolve) => setTimeout(resolve, follows));
        if (await second.use()) granted.push(Date.now());
      };
      const made: Promise<void>[] = [];
      for (const { who, count, wait, lag, follows, inPairs } of steps) {
        for (let i = 0; i < count; i++) made.push(call(both[who], inPairs ? follows : undefined).catch(() => {}));
        await vi.advanceTimersByTimeAsync(wait);
        vi.setSystemTime(Date.now() + lag);
      }
      await vi.advanceTimersByTimeAsync(4 * perMs);
      expect(mostInAnyWindow(granted, perMs)).toBeLessThanOrEqual(calls);
      stop.abort();
      await vi.advanceTimersByTimeAsync(2_000);
      await Promise.allSettled(made);
    }),
    { numRuns: runs(40) },
  );
});

it('the rate limiter keeps a limit of two calls in ten seconds while four processes hold slots far ahead', async () => {
  store = await newStore('sqlite');
  const granted: number[] = [];
  const stop = new AbortController();
  const work = async () => {
    const own = rateLimiter(2, 10_000, 'calls');
    while (!stop.signal.aborted) {
      const second = await own.acquirePair('calls', stop.signal);
      granted.push(Date.now());
      if (await second?.use()) granted.push(Date.now());
    }
  };
  const made = Array.from({ length: 4 }, () => work().catch(() => {}));
  for (let passed = 0; passed < 200; passed += 1) await vi.advanceTimersByTimeAsync(1_000);
  expect(granted.length).toBeGreaterThan(10);
  expect(mostInAnyWindow(granted, 10_000)).toBeLessThanOrEqual(2);
  stop.abort();
  await vi.advanceTimersByTimeAsync(2_000);
  await Promise.all(made);
});

it.each([
  [10, 10_000],
  [20, 10_000],
  [100, 10_000],
])('a write follows its read at once at %i calls in %i ms, and most of them are used', async (calls, perMs) => {
  store = await newStore('sqlite');
  const shared = rateLimiter(calls, perMs, 'calls');
  const ages: number[] = [];
  let ended = false;
  const sync = async () => {
    while (!ended) {
      const second = await shared.acquirePair('calls', live);
      const read = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 120));
      if ((await second?.use()) !== true) await shared.acquire('calls', live, 'first');
      ages.push(Date.now() - read);
    }
  };
  const syncs = [sync(), sync(), sync()];
  await vi.advanceTimersByTimeAsync(6 * perMs);
  expect(Math.max(...ages)).toBe(120);
  expect(2 * ages.length).toBeGreaterThanOrEqual(0.8 * 6 * calls);
  ended = true;
  await vi.advanceTimersByTimeAsync(perMs);
  await Promise.all(syncs);
});

it('the rate limiter gives the slot of a write that does not come to the next caller', async () => {
  store = await newStore('sqlite');
  const shared = rateLimiter(10, 10_000, 'calls');
  const pair = shared.acquirePair('calls', live);
  await vi.advanceTimersByTimeAsync(1_200);
  const second = await pair;
  const next = shared.acquire('calls', live).then(() => Date.now());
  const asked = Date.now();
  second?.release();
  await vi.advanceTimersByTimeAsync(0);
  await vi.advanceTimersByTimeAsync(1_200);
  expect(await next).toBe(asked);
  expect(await second?.use()).toBe(false);
});

it.each([
  [190, 10_000],
  [100, 10_000],
  [500, 60_000],
  [5, 1_000],
])('the rate limiter uses at least 0.95 of %i calls in %i ms while work waits', async (calls, perMs) => {
  store = await newStore('sqlite');
  const shared = rateLimiter(calls, perMs);
  let granted = 0;
  const stop = new AbortController();
  const caller = async () => {
    for (;;) {
      await shared.acquire('calls', stop.signal);
      granted++;
    }
  };
  const callers = [caller(), caller(), caller()];
  await vi.advanceTimersByTimeAsync(4 * perMs);
  expect(granted).toBeGreaterThanOrEqual(0.95 * 4 * calls);
  expect(granted).toBeLessThanOrEqual(4 * calls);
  stop.abort();
  await Promise.allSettled(callers);
});

it('the rate limiter continues within two windows when the clock is set back an hour', async () => {
  store = await newStore('sqlite');
  const shared = rateLimiter(10, 1_000);
  await Promise.all([shared.acquire('calls', live), vi.advanceTimersByTimeAsync(10)]);
  const waiting = Promise.all([1, 2, 3].map(() => shared.acquire('calls', live)));
  await vi.advanceTimersByTimeAsync(20);
  vi.setSystemTime(Date.now() - 3_600_000);
  await vi.advanceTimersByTimeAsync(3_000);
  await waiting;
});

it('a pause of the process loses calls and never crowds them', async () => {
  store = await newStore('sqlite');
  const shared = rateLimiter(100, 1_000);
  const granted: number[] = [];
  const calls = Promise.all(
    Array.from({ length: 120 }, () => shared.acquire('calls', live).then(() => granted.push(Date.now()))),
  );
  await vi.advanceTimersByTimeAsync(300);
  vi.setSystemTime(Date.now() + 400);
  await vi.advanceTimersByTimeAsync(2_000);
  await calls;
  expect(mostInAnyWindow(granted, 100)).toBeLessThanOrEqual(11);
});
