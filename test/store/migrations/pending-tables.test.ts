/** A store from before the table of pending writes. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { loadRecords } from '../../../src/connector/sync/load.ts';
import { isShown, readPendingWrites } from '../../../src/runtime/lanes/pending-writes.ts';
import { migrateStore } from '../../../src/store/migrations/migrations.ts';
import { addPendingLines } from '../../../src/store/migrations/pending-lines.ts';
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

test.each(ENGINES)('writes of many records stay pending when each gets a line for a property (%s)', async (engine) => {
  const store = await storeBefore(engine, addPendingLines);
  const detail = JSON.stringify({
    'na"me': { field: 'name', old: null, now: 'B ApS', seq: 7 },
    staff: { field: 'employees', old: 3, now: 5, seq: 8 },
  });
  const writes = Array.from({ length: 1_001 }, (_, at) => ({ queue: 'sync:crm', key: `${at}`, at, detail }));
  const others = [{ queue: 'parent:crm', key: '1', at: 1, detail: '{"parent":"2"}' }];
  await store.write(async (tx) => {
    await sql`insert into link (provider, record_id, entity, state, desired, observed, synced_seq, created_at, updated_at)
      values ('crm', '1000', 'CVR-1-12345674', 'active', 'on', 'on', 0, 0, 0)`.execute(tx);
    for (const { queue, key, at, detail } of [...writes, ...others])
      await sql`insert into pending_write (queue, key, fence, at, detail, check_at, answered_at)
        values (${queue}, ${key}, 3, ${at}, ${detail}, 9, 4)`.execute(tx);
  });
  await migrateStore(store);
  const [record] = await loadRecords(store.db, { provider: 'crm', ids: ['1000'], fields: [] }, 0);
  const from = expect.objectContaining({ fence: 3, at: 1_000, answeredAt: 4 });
  expect(record?.remembered.get('na"me')?.pending).toEqual([{ field: 'name', old: null, now: 'B ApS', seq: 7, from }]);
  expect(record?.remembered.get('staff')?.pending).toEqual([{ field: 'employees', old: 3, now: 5, seq: 8, from }]);
  const stored = await store.db.selectFrom('pending_write').select(['queue', 'detail', 'check_at']).execute();
  expect(stored).toHaveLength(writes.length + others.length);
  expect(stored.filter(({ queue }) => queue === 'parent:crm')).toEqual([
    { queue: 'parent:crm', detail: '{"parent":"2"}', check_at: 9 },
  ]);
});
