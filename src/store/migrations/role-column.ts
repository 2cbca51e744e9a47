/** The roles of a daemon. One of the version before has all of them. */
import type { Tx } from '../store.ts';

export async function addRoles(tx: Tx): Promise<void> {
  await tx.schema
    .alterTable('daemon')
    .addColumn('roles', 'text', (column) => column.notNull().defaultTo('ingest sync service'))
    .execute();
}
