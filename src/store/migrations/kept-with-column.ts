/** Differences of properties that are kept together are one: each names the property that stands for it. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addKeptTogether(tx: Tx, engine: Engine): Promise<void> {
  await tx.schema.alterTable('property_state').addColumn('kept_with', dialect(tx, engine).text).execute();
}
