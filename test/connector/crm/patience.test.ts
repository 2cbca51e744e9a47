/** How long a command goes on asking a CRM that gives no answer. */
import { expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { type Patient, patiently } from '../../../src/connector/crm/patience.ts';

const HOUR_MS = 3_600_000;
const never = new AbortController().signal;
const crm = { rateLimiter: {} as never };
const away = () => new ProviderError('unavailable', 'no answer');

/** Asks a CRM of which each call takes as long as it is said, and answers after those; returns how often it was called. */
async function asked(calls: readonly number[], told: (until: number | undefined, now: number) => void = () => {}) {
  let [at, count] = [0, 0];
  const call = async (): Promise<number> => {
    const took = calls[count];
    count += 1;
    if (took === undefined) return count;
    at += took;
    throw away();
  };
  const wait = async (ms: number): Promise<void> => {
    at += ms;
  };
  const report: Patient['report'] = (step) => told(step.wait?.until, at);
  return patiently({ crm, now: () => at, wait, report }, call, never);
}

test('the connector waits two minutes for an answer of a CRM', async () => {
  expect(await asked([1_000, 1_000, 1_000])).toBe(4);
});

test('a call without an answer for more than two minutes fails', async () => {
  await expect(asked(Array(100).fill(1_000))).rejects.toThrow('no answer');
});

test('a machine that slept for an hour during a call retries it, because the sleep does not count', async () => {
  expect(await asked([HOUR_MS, 1_000])).toBe(3);
});

test('the reported end of a wait excludes the time of a sleep', async () => {
  const left: number[] = [];
  await asked([HOUR_MS, 1_000], (until, now) => until !== undefined && left.push(until - now));
  expect(left.every((ms) => ms > 0)).toBe(true);
  expect(left).toHaveLength(2);
});
