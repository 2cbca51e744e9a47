/** What records without a number were found to mean, and what a person said they do not mean. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addMatchResults(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await table('match_result')
    .addColumn('provider', text, (column) => column.notNull())
    .addColumn('record_id', text, (column) => column.notNull())
    .addColumn('position', integer, (column) => column.notNull())
    .addColumn('verdict', text, (column) => column.notNull())
    .addColumn('entity', text)
    .addColumn('body', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('match_result_pk', ['provider', 'record_id'])
    .execute();
  await tx.schema.createIndex('match_result_position').on('match_result').columns(['provider', 'position']).execute();
  await tx.schema.createIndex('match_result_entity').on('match_result').columns(['provider', 'entity']).execute();
  await table('match_rejection')
    .addColumn('provider', text, (column) => column.notNull())
    .addColumn('record_id', text, (column) => column.notNull())
    .addColumn('entity', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('match_rejection_pk', ['provider', 'record_id', 'entity'])
    .execute();
}
