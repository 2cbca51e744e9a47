/** How long a command goes on asking a CRM that gives no answer. */
import { expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { patiently } from '../../../src/connector/crm/patience.ts';

const HOUR_MS = 3_600_000;
const never = new AbortController().signal;
const crm = { rateLimiter: {} as never };
const away = () => new ProviderError('unavailable', 'no answer');

/** Asks a CRM of which each call takes as long as it is said, and answers after those; returns how often it was called. */
async function asked(calls: readonly number[]): Promise<number> {
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
  return patiently({ crm, now: () => at, wait }, call, never);
}

test('a CRM that answers within two minutes is waited for', async () => {
  expect(await asked([1_000, 1_000, 1_000])).toBe(4);
});

test('a silence of more than two minutes is given up', async () => {
  await expect(asked(Array(100).fill(1_000))).rejects.toThrow('no answer');
});

test('a machine that slept for an hour amid a call asks again: nobody was silent meanwhile', async () => {
  expect(await asked([HOUR_MS, 1_000])).toBe(3);
});
