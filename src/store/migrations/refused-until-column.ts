/** A value that the CRM refused is sent again after a day, and with the next event. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addRefusedUntil(tx: Tx, engine: Engine): Promise<void> {
  await tx.schema.alterTable('property_state').addColumn('refused_until', dialect(tx, engine).integer).execute();
}
