import { expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { settleFault } from '../../../src/connector/crm/settle.ts';
import type { RateLimiter } from '../../../src/runtime/limits/rate-limiter.ts';

test('records without an answer are due together, for one batch and one call', async () => {
  const rateLimiter = { block: () => Promise.reject(new Error('no account is to blame')) } as unknown as RateLimiter;
  const { of, paused } = await settleFault(new ProviderError('unavailable', 'no answer'), rateLimiter, 1_000);
  const settlements = Array.from({ length: 50 }, (_, index) =>
    of({ queue: 'sync:hubspot', key: String(index), fence: index, marks: 1, attempts: 1, since: 0, unended: 0 }),
  );
  const times = new Set(settlements.map((settlement) => settlement.kind === 'again' && settlement.at));
  expect(paused).toBe(false);
  expect(times.size).toBe(1);
  expect([...times][0]).toBeGreaterThanOrEqual(3_000);
});
