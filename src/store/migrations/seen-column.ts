/** What stood in the CRM when a person let the register win over it once. Those of the version before count for any value. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addSeenValues(tx: Tx, engine: Engine): Promise<void> {
  await tx.schema.alterTable('override').addColumn('seen', dialect(tx, engine).text).execute();
}
