/** Undoes that the daemon runs for the dashboard. */

import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addUndoRuns(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, serial } = dialect(tx, engine);
  await serial('undo_run', 'id')
    .addColumn('selection', text, (column) => column.notNull())
    .addColumn('stage', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('actor_kind', text, (column) => column.notNull())
    .addColumn('actor', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('ended_at', integer)
    .addColumn('records', integer, (column) => column.notNull())
    .addColumn('record_count', integer)
    .addColumn('error', text)
    .execute();
  await table('undo_result')
    .addColumn('run', integer, (column) => column.notNull())
    .addColumn('provider', text, (column) => column.notNull())
    .addColumn('record_id', text, (column) => column.notNull())
    .addColumn('property', text, (column) => column.notNull())
    .addColumn('entity', text, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('from_value', text)
    .addColumn('to_value', text)
    .addColumn('reason', text)
    .addPrimaryKeyConstraint('undo_result_key', ['run', 'provider', 'record_id', 'property'])
    .execute();
}
