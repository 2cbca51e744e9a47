/** Clock time in zones that change their clocks at other times than Denmark, or by other steps. */
import { expect, it } from 'vitest';
import { clockIn, isTimeZone } from '../../../src/protocol/text/zone-clock.ts';

const QUARTER_MS = 900_000;
const at = (text: string): number => Date.parse(`${text}Z`);

it.each([
  'Europe/Copenhagen',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kolkata',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'Australia/Lord_Howe',
  'UTC',
])('each quarter of a year in %s is found by its clock time, a repeated one by its first', (zone) => {
  const { clockAt, instantOfClock } = clockIn(zone);
  const first = new Map<number, number>();
  for (let instant = at('2026-01-01T00:00'); instant < at('2027-01-02T00:00'); instant += QUARTER_MS) {
    const shown = clockAt(instant);
    if (!first.has(shown)) first.set(shown, instant);
  }
  const wrong = [...first].filter(([shown, instant]) => instantOfClock(shown) !== instant);
  expect(wrong).toEqual([]);
});

it.each([
  ['Europe/Copenhagen', '2026-03-29T02:00', '2026-03-29T01:00'],
  ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30'],
])('a time that spring skips in %s counts by the offset before', (zone, shown, instant) => {
  expect(clockIn(zone).instantOfClock(at(shown))).toBe(at(instant));
});

it('knows the zones by their names', () => {
  expect(['Europe/Copenhagen', 'UTC', 'Europe/Copenhage', ''].map(isTimeZone)).toEqual([true, true, false, false]);
});
