/** What a mail server refuses is tried again for days before it ends, and stands in review until somebody answers. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addMailRefusals(tx: Tx, engine: Engine): Promise<void> {
  const { integer } = dialect(tx, engine);
  const add = (name: string) =>
    tx.schema.alterTable('unsubscribed').addColumn(name, integer, (column) => column.notNull().defaultTo(0));
  await add('refusals').execute();
  await add('in_review').execute();
  await tx.schema.alterTable('unsubscribed').addColumn('retry_at', integer).execute();
  await tx.schema
    .createIndex('unsubscribed_review')
    .on('unsubscribed')
    .column('monitor')
    .where(sql.ref('in_review'), '=', sql.lit(1))
    .execute();
}
