/** How many calls of a limited minute were taken, by all daemons of the store together. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addCallWindows(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await table('call_window')
    .addColumn('key', text, (column) => column.primaryKey().notNull())
    .addColumn('since', integer, (column) => column.notNull())
    .addColumn('taken', integer, (column) => column.notNull())
    .execute();
}
