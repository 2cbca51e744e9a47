import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseTime } from '../../../src/protocol/text/time.ts';

describe('times', () => {
  it.each([
    ['2026-08-14T09:30:00Z', '2026-08-14T09:30:00.000Z'],
    ['2026-08-14T09:30:00', '2026-08-14T09:30:00.000Z'],
    ['2026-08-14T09:30', '2026-08-14T09:30:00.000Z'],
    ['2026-08-14 09:30:00.5', '2026-08-14T09:30:00.500Z'],
    ['2026-08-14T09:30:00.1234567Z', '2026-08-14T09:30:00.123Z'],
    ['2026-08-14T11:30:00+02:00', '2026-08-14T09:30:00.000Z'],
    ['2026-08-14T05:00:00-0430', '2026-08-14T09:30:00.000Z'],
    ['2026-08-14t09:30:00z', '2026-08-14T09:30:00.000Z'],
    ['2026-06-30T23:59:60Z', '2026-06-30T23:59:59.999Z'],
    ['2026-08-14', '2026-08-14T00:00:00.000Z'],
    [' 2026-08-14 ', '2026-08-14T00:00:00.000Z'],
    ['0001-01-01T00:00:00', '0001-01-01T00:00:00.000Z'],
  ])('reads %s as %s', (text, expected) => {
    expect(normaliseTime(text)).toBe(expected);
  });

  it.each([
    '',
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-08-14T25:00:00Z',
    '14-08-2026',
    '1755164000',
    '2026',
    '0000-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59-02:00',
  ])('refuses %j', (text) => {
    expect(normaliseTime(text)).toBeUndefined();
  });

  it('gives texts that sort as the times do', () => {
    const time = fc.date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(time, time, (a, b) => {
        const [left = '', right = ''] = [normaliseTime(a.toISOString()), normaliseTime(b.toISOString())];
        expect(left < right).toBe(a.getTime() < b.getTime());
      }),
    );
  });
});
