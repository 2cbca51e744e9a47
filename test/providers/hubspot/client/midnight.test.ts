import { describe, expect, it } from 'vitest';
import { untilMidnight } from '../../../../providers/hubspot/client/midnight.ts';

const HOUR = 3_600_000;
const hours = (iso: string, zone: string) => Math.round((untilMidnight(Date.parse(iso), zone) / HOUR) * 1_000) / 1_000;

describe('the time until midnight of an account', () => {
  it.each([
    ['an ordinary day', '2026-06-10T20:30:00Z', 'Europe/Copenhagen', 1.5],
    ['a zone behind UTC', '2026-06-10T20:30:00Z', 'America/New_York', 7.5],
    ['the day of 23 hours', '2026-03-28T23:00:00Z', 'Europe/Copenhagen', 23],
    ['the day of 25 hours', '2026-10-24T22:00:00Z', 'Europe/Copenhagen', 25],
    ['a zone off by half an hour', '2026-06-10T18:00:00Z', 'Asia/Kolkata', 0.5],
  ])('is right on %s', (_label, iso, zone, expected) => expect(hours(iso, zone)).toBeCloseTo(expected, 3));

  it('is never zero, and never ends before midnight', () => {
    const midnight = Date.parse('2026-06-10T22:00:00Z');
    expect(untilMidnight(midnight - 1, 'Europe/Copenhagen')).toBe(1);
    expect(untilMidnight(midnight, 'Europe/Copenhagen')).toBeGreaterThan(23 * HOUR);
  });

  it('rejects invented zones', () => expect(() => untilMidnight(0, 'Europe/Atlantis')).toThrow(RangeError));
});
