/** What is remembered of an event beside its body: whose id it came under, and why it was set aside. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addEventCare(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer } = dialect(tx, engine);
  for (const name of ['webhook_id', 'digest', 'aside'])
    await tx.schema.alterTable('receipt').addColumn(name, text).execute();
  await tx.schema
    .createIndex('receipt_webhook_id')
    .on('receipt')
    .column('webhook_id')
    .where(sql.ref('webhook_id'), 'is not', null)
    .execute();
  await tx.schema
    .createIndex('receipt_aside')
    .on('receipt')
    .column('seq')
    .where(sql.ref('aside'), 'is not', null)
    .execute();
  await tx.schema.alterTable('link').addColumn('asked_seq', integer).execute();
}
