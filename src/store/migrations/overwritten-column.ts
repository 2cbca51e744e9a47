/** A person's edit that a write of ours went over, until it is put back. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addOverwrittenEdits(tx: Tx, engine: Engine): Promise<void> {
  await tx.schema.alterTable('property_state').addColumn('overwritten', dialect(tx, engine).text).execute();
}
