/** The daemons that run on the store: one row each, renewed as long as it runs. */

import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addDaemons(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await table('daemon')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('started_at', integer, (column) => column.notNull())
    .addColumn('seen_at', integer, (column) => column.notNull())
    .addColumn('digests', text, (column) => column.notNull())
    .execute();
}
