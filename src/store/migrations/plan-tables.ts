/** What a person skipped in a plan of a backfill: the next plan must not offer it as something to link. */
import type { ColumnBuilderCallback } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

const required: ColumnBuilderCallback = (column) => column.notNull();

export async function addPlanMemory(tx: Tx, engine: Engine): Promise<void> {
  const { text, table } = dialect(tx, engine);
  await table('plan_skip')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('entity', text, required)
    .addPrimaryKeyConstraint('plan_skip_key', ['provider', 'record_id'])
    .execute();
}
