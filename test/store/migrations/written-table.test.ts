/** A store that kept what was written in a row for each property. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readWritten, rememberWritten } from '../../../src/connector/history/written.ts';
import { loadRecords } from '../../../src/connector/sync/load.ts';
import { migrateStore } from '../../../src/store/migrations/migrations.ts';
import { addWritten } from '../../../src/store/migrations/written-table.ts';
import { ENGINES, storeBefore } from '../../support/stores.ts';

test.each(ENGINES)('what was written and what stands beside it are known after the migration (%s)', async (engine) => {
  const store = await storeBefore(engine, addWritten);
  await store.write(async (tx) => {
    await sql`insert into link (provider, record_id, entity, state, desired, observed, send_update, synced_seq, created_at, updated_at)
      values ('crm', 'one', 'CVR-1-12345674', 'active', 'on', 'on', 0, 0, 0, 0)`.execute(tx);
    await sql`insert into property_state (provider, record_id, property, written, written_at, trusted_at, kept, offered, kept_at) values
      ('crm', 'one', 'na"me', ${JSON.stringify('A "ApS"')}, 5, null, null, null, null),
      ('crm', 'one', 'city', 'null', 6, 7, null, null, null),
      ('crm', 'one', 'odd', ${JSON.stringify('a\0b\ud800c')}, null, null, null, null, null),
      ('crm', 'one', 'phone', null, null, null, '"1"', '"2"', 8),
      ('crm', 'two', 'name', '"B"', 9, null, null, null, null)`.execute(tx);
  });
  await migrateStore(store);
  const [record] = await loadRecords(store.db, { provider: 'crm', ids: ['one'], fields: [] }, 0);
  expect(Object.fromEntries(record?.remembered ?? [])).toMatchObject({
    'na"me': { written: 'A "ApS"', writtenAt: 5, trusted: false, kept: undefined },
    city: { written: null, writtenAt: 6, trusted: true },
    odd: { writtenAt: 0 },
    phone: { written: undefined, kept: { crm: '"1"', now: '"2"' } },
  });
  expect((await readWritten(store.db, 'crm', ['two'])).get('two')?.get('name')).toEqual({ value: 'B', at: 9 });
  const left = await store.db.selectFrom('property_state').select('property').orderBy('property').execute();
  expect(left.map(({ property }) => property)).toEqual(['city', 'phone']);
  // What is written later goes beside it.
  await store.write((tx) => rememberWritten(tx, 'crm', [{ id: 'one', property: 'city', value: 'By', at: 9 }]));
  expect(Object.fromEntries((await readWritten(store.db, 'crm', ['one'])).get('one') ?? [])).toMatchObject({
    'na"me': { value: 'A "ApS"', at: 5 },
    city: { value: 'By', at: 9 },
  });
});
