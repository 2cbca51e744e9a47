/** A store from before the counts of runs that never ended. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { addBeginnings } from '../../../src/store/migrations/lease-column.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

test.each(ENGINES)('lanes and receipts of before the migration have a whole budget after it (%s)', async (engine) => {
  const store = await newStore(engine);
  await store.write(async (tx) => {
    await tx.schema.alterTable('lane').dropColumn('unended').execute();
    await tx.schema.alterTable('receipt').dropColumn('begun').execute();
    await sql`insert into lane (queue, key, due_at, marks, attempts, since) values ('apply', 'one', 0, 1, 0, 0)`.execute(
      tx,
    );
    await sql`insert into receipt (dedupe_key, entity, timestamp, body, received_at)
      values ('one', 'one', '2026-01-01T00:00:00Z', '{}', 0)`.execute(tx);
    await addBeginnings(tx, engine);
  });
  expect(await store.db.selectFrom('lane').select(['key', 'unended']).execute()).toEqual([{ key: 'one', unended: 0 }]);
  expect(await store.db.selectFrom('receipt').select(['entity', 'begun']).execute()).toEqual([
    { entity: 'one', begun: 0 },
  ]);
});
