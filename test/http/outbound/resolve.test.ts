import { expect, it } from 'vitest';
import { createResolver } from '../../../src/http/outbound/resolve.ts';

it('finds the names of this machine where the system looks', async () => {
  const resolve = createResolver();
  const found = await resolve('localhost');
  expect(found.length).toBeGreaterThan(0);
  expect(found.every((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
});

it('rejects where there is no such name', async () => {
  await expect(createResolver()('nonexistent.invalid')).rejects.toThrow();
});
