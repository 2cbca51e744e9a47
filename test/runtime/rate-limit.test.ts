/** The pace by a clock that the test turns. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRateLimiter, type RateLimiter } from '../../src/runtime/limits/rate-limiter.ts';
import type { Store } from '../../src/store/open.ts';
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

const rateLimiter = (calls: number, perMs: number): RateLimiter =>
  createRateLimiter({ store, key: 'crm', budgets: { calls: { calls, perMs } }, now: Date.now });

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
    }),
    { maxLength: 15 },
  ),
});

it('no window ever holds more calls than the limit, however they are asked for and however late timers are', async () => {
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
    { numRuns: 40 },
  );
});

it.each([
  [190, 10_000],
  [100, 10_000],
  [500, 60_000],
  [5, 1_000],
])('uses at least 0.95 of %i calls in %i ms while work waits', async (calls, perMs) => {
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

it('goes on within two windows when the clock is set back an hour', async () => {
  store = await newStore('sqlite');
  const shared = rateLimiter(10, 1_000);
  await Promise.all([shared.acquire('calls', live), vi.advanceTimersByTimeAsync(10)]);
  const waiting = Promise.all([1, 2, 3].map(() => shared.acquire('calls', live)));
  await vi.advanceTimersByTimeAsync(20);
  vi.setSystemTime(Date.now() - 3_600_000);
  await vi.advanceTimersByTimeAsync(3_000);
  await waiting;
});

it('a pause of the process costs calls and never crowds them', async () => {
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
