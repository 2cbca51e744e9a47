/** A CRM that leaves few calls to us: a write follows its read at once, in two calls. */
import { expect, it } from 'vitest';
import { emulatedHubspot, recordsOf } from './emulated-records.ts';

it('the sync writes each record with two calls if calls are further apart than a write may wait', async () => {
  const perSeconds = 2;
  const emulated = await emulatedHubspot({ rate: { calls: 5, perMs: perSeconds * 1_000 } });
  const paced = { ...emulated, settings: { ...emulated.settings, rate: { calls: 5, perSeconds } } };
  const { crm, sync, holding } = await recordsOf(paced, 5, { clock: { now: Date.now, forward() {} } });
  await crm.schema(new AbortController().signal);
  const before = emulated.emulator.calls.length;
  await sync(1);
  const calls = emulated.emulator.calls.slice(before);
  expect(holding('B ApS')).toBe(5);
  // Two for each record; one more if the machine stood still.
  expect(calls.length).toBeLessThanOrEqual(11);
  expect(calls.filter(({ status }) => status === 429)).toEqual([]);
});
