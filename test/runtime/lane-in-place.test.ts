import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { claim, mark, renew } from '../../src/runtime/lanes/lanes.ts';
import { newStore } from '../support/stores.ts';

test('PostgreSQL claims lanes, marks claimed ones and renews leases in place, without a new entry in any index', async () => {
  const store = await newStore('postgres');
  const keys = Array.from({ length: 300 }, (_, at) => `${at}`);
  await store.write((tx) => mark(tx, 'q', keys, 0));
  const claims = await claim(store, 'q', { limit: 10, now: 1, leaseMs: 1_000 });
  expect((await renew(store, claims, 5_000)).size).toBe(10);
  const claimed = claims.map(({ key }) => key);
  await store.write((tx) => mark(tx, 'q', claimed, 2));
  const updates = async () => {
    const { rows } = await sql<{ all: number; inPlace: number }>`select n_tup_upd as "all", n_tup_hot_upd as "inPlace"
      from pg_stat_user_tables where relname = 'lane'`.execute(store.db);
    return rows[0];
  };
  // The statistics of a connection are told some time after its transaction.
  await expect.poll(async () => Number((await updates())?.all)).toBe(30);
  expect(Number((await updates())?.inPlace)).toBe(30);
});
