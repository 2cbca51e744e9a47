import { expect, it } from 'vitest';
import { createSharedCallLimit } from '../../../src/http/server/shared-call-limit.ts';
import { newStore } from '../../support/stores.ts';

it('a call limit counts in the memory of the one daemon on SQLite, and restarts if the clock is set back', async () => {
  const store = await newStore('sqlite');
  let now = 100_000;
  const call = createSharedCallLimit({ store, name: 'api', limit: 2, now: () => now });
  expect([await call('a'), await call('a'), await call('a'), await call('b')]).toEqual([
    undefined,
    undefined,
    60,
    undefined,
  ]);
  now += 59_001;
  expect(await call('a')).toBe(1);
  now = 50_000;
  expect([await call('a'), await call('a'), await call('a')]).toEqual([undefined, undefined, 60]);
  now += 60_000;
  expect(await call('a')).toBeUndefined();
  expect(await store.db.selectFrom('call_window').selectAll().execute()).toEqual([]);
});
