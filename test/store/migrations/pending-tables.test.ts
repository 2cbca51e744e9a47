/** A store from before the table of pending writes. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { loadRecords } from '../../../src/connector/sync/load.ts';
import { isShown, readPendingWrites } from '../../../src/runtime/lanes/pending-writes.ts';
import { migrateStore } from '../../../src/store/migrations/migrations.ts';
import { addAnswerTimes, addPendingWrites } from '../../../src/store/migrations/pending-tables.ts';
import { ENGINES, storeBefore } from '../../support/stores.ts';

test.each(ENGINES)(
  'a write whose answer was lost before the migration is still known after it (%s)',
  async (engine) => {
    const store = await storeBefore(engine, addPendingWrites);
    await store.write(async (tx) => {
      await sql`insert into link (provider, record_id, entity, state, wish, monitored, send_update, synced_seq, created_at, updated_at)
      values ('crm', 'one', 'CVR-1-12345674', 'active', 'on', 'on', 0, 0, 0, 0)`.execute(tx);
      const write = '{"field":"name","old":"A ApS","now":"B ApS","seq":7}';
      await sql`insert into property_state (provider, record_id, property, tried)
      values ('crm', 'one', 'na"me', ${write}), ('crm', 'one', 'city', ${write}), ('crm', 'two', 'name', null)`.execute(
        tx,
      );
    });
    await migrateStore(store);
    const [record] = await loadRecords(store.db, { provider: 'crm', ids: ['one'], fields: [] }, 0);
    const pending = ['na"me', 'city'].map((property) => record?.remembered.get(property)?.pending);
    const tried = { field: 'name', old: 'A ApS', now: 'B ApS', seq: 7, from: expect.anything() };
    expect(pending).toEqual([[tried], [tried]]);
  },
);

test.each(ENGINES)('a write that is pending before answers had times stays pending (%s)', async (engine) => {
  const store = await storeBefore(engine, addAnswerTimes);
  await store.write((tx) =>
    sql`insert into pending_write (queue, key, fence, at, detail, check_at) values ('sync:crm', 'one', 3, 1, '{}', 2)`.execute(
      tx,
    ),
  );
  await migrateStore(store);
  const [write] = await readPendingWrites(store.db, 'sync:crm', ['one']);
  expect(write).toMatchObject({ fence: 3, answeredAt: null });
  expect(write && isShown(write, Number.MAX_SAFE_INTEGER)).toBe(false);
});
