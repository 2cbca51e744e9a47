import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instantOfClock, registerTime } from '../../../src/protocol/danish/clock.ts';

const CLOCK = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Copenhagen',
  dateStyle: 'short',
  timeStyle: 'medium',
});

test('the time of the register is what clocks show, with the offset of the season', () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(1950, 0, 1), max: Date.UTC(2036, 11, 31) }), (ms) => {
      const time = registerTime(ms);
      expect(time.slice(0, 19).replace('T', ' ')).toBe(CLOCK.format(ms));
      expect(Date.parse(time)).toBe(ms);
    }),
  );
  expect(registerTime(Date.UTC(2026, 2, 29, 0, 59, 59))).toBe('2026-03-29T01:59:59.000+01:00');
  expect(registerTime(Date.UTC(2026, 2, 29, 1))).toBe('2026-03-29T03:00:00.000+02:00');
});

test('the instant of a time is the first that shows it, and midnight is one in every season', () => {
  for (const day of ['2026-01-15', '2026-03-29', '2026-07-15', '2026-10-25']) {
    const midnight = instantOfClock(Date.parse(`${day}T00:00:00Z`));
    expect(registerTime(midnight).slice(0, 19)).toBe(`${day}T00:00:00`);
  }
});
