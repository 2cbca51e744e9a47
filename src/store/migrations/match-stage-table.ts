/** Keys on their way into the company index. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addMatchStage(tx: Tx, engine: Engine): Promise<void> {
  const { integer, table } = dialect(tx, engine);
  await table('match_key_staged')
    .addColumn('bucket', integer, (column) => column.notNull())
    .addColumn('position', integer, (column) => column.notNull())
    .addColumn('key', integer, (column) => column.notNull())
    .addColumn('entry', integer, (column) => column.notNull())
    .addColumn('company', integer)
    .addPrimaryKeyConstraint('match_key_staged_pk', ['bucket', 'position'])
    .execute();
}
