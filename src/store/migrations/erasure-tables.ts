/** Whose data was erased, by a digest: what is told of them later is not kept. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addErasures(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await table('erasure')
    .addColumn('digest', text, (column) => column.primaryKey())
    .addColumn('erased_with', text, (column) => column.notNull())
    .addColumn('begun_at', integer, (column) => column.notNull())
    .addColumn('done_at', integer)
    .addColumn('rest', text)
    .execute();
}
