import { describe, expect, it } from 'vitest';
import {
  type DeliveryFailure,
  decideHealth,
  HEALTHY,
  type Health,
  type HealthDecision,
} from '../../../src/service/monitors/health.ts';

const HOUR = 3_600_000;
const failure = (hours: number, more: Partial<DeliveryFailure> = {}): DeliveryFailure => ({
  at: hours * HOUR,
  failed: false,
  gone: false,
  repeated: false,
  ...more,
});

/** What failures make of a monitor, one after the other. */
function lived(failures: readonly DeliveryFailure[], from: Health = HEALTHY): readonly HealthDecision[] {
  const decisions: HealthDecision[] = [];
  for (const one of failures) decisions.push(decideHealth(decisions.at(-1)?.health ?? from, one));
  return decisions;
}
const hourly = (count: number, more: Partial<DeliveryFailure> = {}) =>
  Array.from({ length: count }, (_, hour) => failure(hour, more));

describe('a monitor', () => {
  it('is disabled after five days and twenty attempts without a success', () => {
    const decisions = lived(hourly(121));
    expect(decisions.findIndex(({ disable }) => disable !== undefined)).toBe(120);
    expect(decisions.at(-1)).toMatchObject({ disable: 'failing', notice: 'disabled' });
  });

  it('stays enabled after many attempts in a short time, and after few in a long one', () => {
    expect(lived(Array.from({ length: 500 }, () => failure(1))).every(({ disable }) => disable === undefined)).toBe(
      true,
    );
    const few = lived(Array.from({ length: 19 }, (_, at) => failure(at * 100)));
    expect(few.every(({ disable }) => disable === undefined)).toBe(true);
    expect(decideHealth(few.at(-1)?.health ?? HEALTHY, failure(1_900)).disable).toBe('failing');
  });

  it('is reported once each at the first failed delivery within hours, half-way, and at the end', () => {
    const failures = hourly(121).map((one, hour) => ({ ...one, failed: hour === 10 || hour === 20 || hour === 70 }));
    const told = lived(failures).flatMap(({ notice }, hour) => (notice === undefined ? [] : [[hour, notice]]));
    expect(told).toEqual([
      [2, 'failing'],
      [10, 'failed'],
      [60, 'halfway'],
      [120, 'disabled'],
    ]);
  });

  it('is reported once if two of these coincide', () => {
    const [, verdict] = lived([failure(0), failure(76, { failed: true })]);
    expect(verdict).toMatchObject({ notice: 'halfway', health: { notices: 11 } });
    expect(decideHealth(verdict?.health ?? HEALTHY, failure(77, { failed: true })).notice).toBeUndefined();
  });

  it('starts counting again after a success', () => {
    const [verdict] = lived([failure(1_000)], HEALTHY);
    expect(verdict).toMatchObject({ health: { failingSince: 1_000 * HOUR, failedAttempts: 1, notices: 0 } });
  });

  it('counts no attempt twice: those of a replay do not disable it', () => {
    const decisions = lived([failure(0), ...hourly(200, { repeated: true })]);
    expect(decisions.at(-1)).toMatchObject({ disable: undefined, health: { failedAttempts: 1 } });
  });

  it('is disabled at once if the webhook is gone', () => {
    expect(decideHealth(HEALTHY, failure(0, { gone: true }))).toMatchObject({ disable: 'gone', notice: 'gone' });
  });
});
