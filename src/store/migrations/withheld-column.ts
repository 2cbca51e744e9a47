/** Marks the snapshots of which the safety limit withholds something: to find them by their bodies reads every snapshot. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addWithheld(tx: Tx, engine: Engine): Promise<void> {
  await tx.schema
    .alterTable('snapshot')
    .addColumn('withheld', dialect(tx, engine).integer, (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`update snapshot set withheld = 1 where body like '%"withheld":{%'`.execute(tx);
  await tx.schema
    .createIndex('snapshot_withheld')
    .on('snapshot')
    .column('entity')
    .where(sql.ref('withheld'), '=', sql.lit(1))
    .execute();
}
