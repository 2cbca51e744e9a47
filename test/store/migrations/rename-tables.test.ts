/** A store of the version before names followed the glossary, with rows in all that was renamed. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { migrateStore } from '../../../src/store/migrations/migrations.ts';
import { renameTables } from '../../../src/store/migrations/rename-tables.ts';
import { ENGINES, storeBefore } from '../../support/stores.ts';

const ROWS = [
  `insert into link (provider, record_id, entity, state, wish, monitored, monitored_at, monitored_error, doubt, created_at, updated_at)
   values ('crm', '1', 'CVR-1-95012353', 'active', 'on', 'refused', 5, 'no', '95012352', 1, 1)`,
  `insert into lane (queue, key, due_at, epoch, marks, since) values ('look', 'crm changes', 1, 77, 1, 1)`,
  `insert into lane (queue, key, due_at, marks, since) values ('sync:crm', 'look', 1, 1, 1)`,
  `insert into pending_write (queue, key, fence, at, detail, look_at) values ('sync:crm', '1', 3, 1, '{}', 9)`,
  `insert into note (provider, record_id, marker, seq, entity, subject, body, at, state, tried_at)
   values ('crm', '1', 'm', 1, 'CVR-1-95012353', 's', 'b', 1, 'due', 4)`,
  `insert into parent (provider, record_id, tried_id, at) values ('crm', '1', '2', 1)`,
  `insert into alert (channel, key, what, since, told_at) values ('mail', 'k', 'w', 1, 6)`,
  `insert into monitor (id, name, target, security, emails, mail_rhythm, activated, activated_at, failed_attempts, notices, created_at, updated_at)
   values ('m', 'n', 'all', '{}', '[]', 'at-once', 1, 8, 0, 0, 1, 1)`,
  `insert into mail (monitor, recipient, kind, body, created_at) values ('m', 'a@example.com', 'at-once', '{}', 1)`,
  `insert into delivery (monitor, entity, change, events, state, next_at, created_at)
   values ('m', 'CVR-1-95012353', 1, '[]', 'exhausted', 1, 1)`,
  `insert into ruling (provider, record_id, property, kind, once, created_at) values ('crm', '1', '*', 'hold', 0, 1)`,
  `insert into rate (key, next_at, blocked_until, reason) values ('crm/*', 1.5, 9, 'paused')`,
  `insert into keep (key, value, updated_at) values ('k', 'v', 1)`,
  `insert into census (provider, purpose, record_id, position, verdict, action, state)
   values ('crm', 'backfill', '1', 1, 'matched', 'link', 'planned')`,
  `insert into census_item (provider, entity, record_id) values ('crm', 'CVR-1-95012353', '1')`,
];

test.each(ENGINES)('a store of the names before brings every row along under the new ones (%s)', async (engine) => {
  const store = await storeBefore(engine, renameTables);
  await store.write(async (tx) => {
    for (const row of ROWS) await sql.raw(row).execute(tx);
  });
  await migrateStore(store);
  const { db } = store;

  expect(await db.selectFrom('link').selectAll().execute()).toMatchObject([
    { desired: 'on', observed: 'refused', observed_at: 5, observed_error: 'no', mismatch: '95012352' },
  ]);
  expect(await db.selectFrom('lane').select(['queue', 'key', 'fence']).orderBy('queue').execute()).toEqual([
    { queue: 'poll', key: 'crm changes', fence: 77 },
    { queue: 'sync:crm', key: 'look', fence: null },
  ]);
  expect(await db.selectFrom('pending_write').select(['fence', 'check_at']).execute()).toEqual([
    { fence: 3, check_at: 9 },
  ]);
  expect(await db.selectFrom('note').select('attempted_at').execute()).toEqual([{ attempted_at: 4 }]);
  expect(await db.selectFrom('parent').select('pending_id').execute()).toEqual([{ pending_id: '2' }]);
  expect(await db.selectFrom('alert').select('notified_at').execute()).toEqual([{ notified_at: 6 }]);
  expect(await db.selectFrom('monitor').select(['mail_frequency', 'enabled', 'enabled_at']).execute()).toEqual([
    { mail_frequency: 'immediate', enabled: 1, enabled_at: 8 },
  ]);
  expect(await db.selectFrom('mail').select('kind').execute()).toEqual([{ kind: 'immediate' }]);
  expect(await db.selectFrom('delivery').select('state').execute()).toEqual([{ state: 'failed' }]);
  expect(await db.selectFrom('override').select(['property', 'kind']).execute()).toEqual([
    { property: '*', kind: 'hold' },
  ]);
  expect(await db.selectFrom('rate_limit').select(['next_at', 'blocked_until']).execute()).toEqual([
    { next_at: 1.5, blocked_until: 9 },
  ]);
  expect(await db.selectFrom('kv').select(['key', 'value']).execute()).toEqual([{ key: 'k', value: 'v' }]);
  expect(await db.selectFrom('scan').select(['record_id', 'action']).execute()).toEqual([
    { record_id: '1', action: 'link' },
  ]);
  expect(await db.selectFrom('scan_item').select('record_id').execute()).toEqual([{ record_id: '1' }]);
});
