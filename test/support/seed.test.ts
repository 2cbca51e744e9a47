import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ALL } from './all.ts';

it('gives fast-check one seed in the suite, and another each night', () => {
  const { seed } = fc.readConfigureGlobal();
  expect(seed).toBe(ALL ? undefined : 1);
});
