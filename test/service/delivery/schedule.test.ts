import { describe, expect, it } from 'vitest';
import { firstWait, nextWait, outcomeOf, SCHEDULE } from '../../../src/service/delivery/schedule.ts';

describe('the next attempt', () => {
  it('comes after 5 s, 5 min, 30 min, then hours, and never after ten', () => {
    const waits = Array.from({ length: 10 }, (_, at) => nextWait(at + 1, SCHEDULE, { random: () => 0 }));
    const hours = [2, 5, 10, 14, 20, 24].map((hour) => hour * 3_600_000);
    expect(waits).toEqual([5_000, 300_000, 1_800_000, ...hours, undefined]);
    expect(firstWait()).toBe(0);
  });

  it('is delayed at random by up to a fifth', () => {
    expect(nextWait(1, [0, 10], { random: () => 0.999 })).toBe(11_998);
    for (let i = 0; i < 100; i++) expect(nextWait(1, [0, 10])).toBeGreaterThanOrEqual(10_000);
  });

  it.each([
    [1_000, 10_000],
    [60_000, 60_000],
    [1e12, 86_400_000],
  ])('follows a requested wait of %i ms: %i', (asked, wait) => {
    expect(nextWait(1, [0, 10], { retryAfterMs: asked, random: () => 0 })).toBe(wait);
  });
});

describe('an answer', () => {
  it.each([200, 201, 202, 204, 299])('of %i is success', (status) => {
    expect(outcomeOf(status)).toEqual({ kind: 'done', disable: false });
  });

  it.each([100, 300, 301, 302, 304, 307, 400, 401, 404, 500, 502, 999])('of %i fails', (status) => {
    expect(outcomeOf(status)).toEqual({ kind: 'failed', abort: false, disable: false, overloaded: false });
  });

  it('of 410 disables, and 429 and 503 ask for less', () => {
    expect(outcomeOf(410)).toMatchObject({ kind: 'failed', disable: true });
    for (const status of [429, 503]) expect(outcomeOf(status)).toMatchObject({ kind: 'failed', overloaded: true });
  });

  it('may disable or give up by a header', () => {
    expect(outcomeOf(204, { 'webhook-delivery': 'disable' })).toEqual({ kind: 'done', disable: true });
    expect(outcomeOf(500, { 'webhook-delivery': ' Abort-Message ' })).toMatchObject({ abort: true, disable: false });
    expect(outcomeOf(500, { 'webhook-delivery': 'else' })).toMatchObject({ abort: false, disable: false });
  });
});
