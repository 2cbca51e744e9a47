import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoff } from '../../src/runtime/backoff.ts';

it('a back-off doubles from a second up to a quarter of an hour', () => {
  const waits = [1, 2, 3, 4, 10, 11, 12, 1_000, 5_000].map((attempts) => backoff(attempts, {}, () => 0));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 512_000, 900_000, 900_000, 900_000, 900_000]);
});

it('a back-off is never shorter than planned, and at most a fifth longer', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 10_000 }),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      (attempts, chance) => {
        const base = backoff(attempts, {}, () => 0);
        const wait = backoff(attempts, {}, () => chance);
        expect(wait).toBeGreaterThanOrEqual(base);
        expect(wait).toBeLessThanOrEqual(base * 1.2);
      },
    ),
  );
});

it('a back-off follows other numbers if they are given', () => {
  expect(backoff(3, { baseMs: 10, factor: 3, capMs: 80 }, () => 0)).toBe(80);
  expect(backoff(2, { baseMs: 10, factor: 3 }, () => 0.5)).toBe(33);
});
