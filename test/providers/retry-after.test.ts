import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../providers/retry-after.ts';

const NOW = Date.parse('2026-09-01T08:00:00Z');

describe('a Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Tue, 01 Sep 2026 08:00:30 GMT', 30_000],
    ['Tue, 01 Sep 2026 07:00:00 GMT', 0],
    ['', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026-09-01', undefined],
    ['99999999999999999999', undefined],
    [undefined, undefined],
  ])('%j is %j ms', (text, ms) => {
    expect(retryAfterMs(text, NOW)).toBe(ms);
  });
});
