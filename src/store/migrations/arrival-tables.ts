/** Webhooks as they came: what is answered before it is read. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addArrivals(tx: Tx, engine: Engine): Promise<void> {
  const { integer, serial } = dialect(tx, engine);
  // No index but its key, which counts up: every row goes to the end of the table.
  await serial('arrival', 'seq')
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('webhook_id', 'text')
    .addColumn('is_signed', integer, (column) => column.notNull())
    .addColumn('received_at', integer, (column) => column.notNull())
    .execute();
  // What waits is counted every second: without it that reads every receipt that was ever applied.
  await tx.schema
    .createIndex('receipt_unapplied')
    .on('receipt')
    .column('applied_at')
    .where(sql.ref('applied_at'), 'is', null)
    .execute();
}
