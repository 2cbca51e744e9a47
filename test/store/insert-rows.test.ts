/** Rows of any number, by statements that are made once. */
import { expect, test } from 'vitest';
import { type InsertTarget, insertRows } from '../../src/store/insert-rows.ts';
import { ENGINES, newStore } from '../support/stores.ts';

const KEPT: InsertTarget = { table: 'kv', columns: ['key', 'value', 'updated_at'], rest: 'returning key' };

test.each(ENGINES)('rows are inserted, and returned in their order, however many they are (%s)', async (engine) => {
  const { db, write } = await newStore(engine);
  const before = (await db.selectFrom('kv').select('key').execute()).length;
  for (const count of [0, 1, 100, 250]) {
    const keys = Array.from({ length: count }, (_, at) => `${count} ${at}`);
    const rows = await write((tx) =>
      insertRows<{ key: string }>(
        tx,
        KEPT,
        keys.map((key) => [key, 'x', 1]),
      ),
    );
    expect(rows.map(({ key }) => key)).toEqual(keys);
  }
  expect((await db.selectFrom('kv').select('key').execute()).length).toBe(before + 351);
});
