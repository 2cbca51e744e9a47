import { describe, expect, it } from 'vitest';
import type { PropertyValue } from '../../../providers/provider.ts';
import { endOfDay, holdOf, isHeld } from '../../../src/connector/crm/hold.ts';

const crm = { hold: 'cvr_hold', only: undefined };
const NOON = Date.UTC(2026, 5, 10, 12);
const held = (value: PropertyValue, now = NOON): number | undefined => holdOf(crm, { cvr_hold: value }, now);

describe('the hold property of a record', () => {
  it.each([null, '', ' ', false, 'false', 'No', 'nej', '0', 0])('%j holds nothing', (value) => {
    expect(held(value)).toBeUndefined();
  });

  it.each([true, 'true', 'Yes', 'ja', 'until Christmas', '2026-13-45'])('%j holds until it is removed', (value) => {
    expect(held(value)).toBe(Number.POSITIVE_INFINITY);
  });

  it('holds through the named day in Danish time', () => {
    const end = endOfDay('2026-06-10');
    expect(held('2026-06-10')).toBe(end);
    expect(held('2026-06-10', end)).toBeUndefined();
    expect(held('2026-06-09')).toBeUndefined();
    // Midnight in Copenhagen is 22:00 UTC in summer and 23:00 in winter: the hold may last an hour more, never less.
    expect(end).toBeGreaterThanOrEqual(Date.UTC(2026, 5, 10, 22));
    expect(endOfDay('2026-01-10')).toBe(Date.UTC(2026, 0, 10, 23));
  });

  it('holds until the named instant', () => {
    const instant = '2026-06-10T12:00:01Z';
    expect([held(instant), held(instant, NOON + 1_000)]).toEqual([NOON + 1_000, undefined]);
  });

  it('has no effect if it is not configured', () => {
    expect(isHeld({ hold: undefined, only: undefined }, { cvr_hold: 'yes' }, NOON)).toBe(false);
    expect(isHeld(crm, { cvr_hold: 'yes' }, NOON)).toBe(true);
  });
});
