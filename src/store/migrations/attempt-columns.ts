/** Attempts that succeeded are kept for a while, and deliveries that are tried again are found by indexes of their own. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addDoneAttempts(tx: Tx, engine: Engine): Promise<void> {
  const { integer } = dialect(tx, engine);
  await tx.schema
    .alterTable('attempt')
    .addColumn('done', integer, (column) => column.notNull().defaultTo(0))
    .execute();
  await tx.schema
    .createIndex('attempt_done')
    .on('attempt')
    .column('id')
    .where(sql.ref('done'), '=', sql.lit(1))
    .execute();
  const failing = (name: string, columns: readonly ('monitor' | 'seq')[]) =>
    tx.schema
      .createIndex(name)
      .on('delivery')
      .columns([...columns])
      .where(sql.ref('state'), '=', sql.lit('due'))
      .where(sql.ref('attempts'), '>', sql.lit(0))
      .execute();
  await failing('delivery_failing', ['seq']);
  await failing('delivery_failing_monitor', ['monitor', 'seq']);
}
