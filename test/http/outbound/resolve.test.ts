import { expect, it } from 'vitest';
import { createResolver } from '../../../src/http/outbound/resolve.ts';

it('the resolver finds the names of this machine as the system does', async () => {
  const resolve = createResolver();
  const found = await resolve('localhost');
  expect(found.length).toBeGreaterThan(0);
  expect(found.every((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
});

it('the resolver rejects if there is no such name', async () => {
  await expect(createResolver()('nonexistent.invalid')).rejects.toThrow();
});
