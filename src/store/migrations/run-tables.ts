/** What the daemon runs for a person who asked for it on a page: undoes were the first, and had tables of their own. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addRuns(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, serial } = dialect(tx, engine);
  // No release had them.
  for (const name of ['undo_result', 'undo_run']) await tx.schema.dropTable(name).execute();
  await serial('run', 'id')
    .addColumn('task', text, (column) => column.notNull())
    .addColumn('input', text, (column) => column.notNull())
    .addColumn('stage', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('actor_kind', text, (column) => column.notNull())
    .addColumn('actor', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('ended_at', integer)
    .addColumn('done', integer, (column) => column.notNull())
    .addColumn('total', integer)
    .addColumn('error', text)
    .execute();
  await table('run_item')
    .addColumn('run', integer, (column) => column.notNull())
    .addColumn('key', text, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('detail', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('run_item_key', ['run', 'key'])
    .execute();
  await tx.schema.createIndex('run_item_kind').on('run_item').columns(['run', 'kind', 'key']).execute();
}
