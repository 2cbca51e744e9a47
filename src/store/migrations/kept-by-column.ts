/** Who wrote the value that is kept as a difference, as the CRM's history tells. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addKeptBy(tx: Tx, engine: Engine): Promise<void> {
  await tx.schema.alterTable('property_state').addColumn('kept_by', dialect(tx, engine).text).execute();
}
