/** Which records get the number of the company that a match found. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addWritesNumber(tx: Tx, engine: Engine): Promise<void> {
  const { integer } = dialect(tx, engine);
  await tx.schema
    .alterTable('link')
    .addColumn('writes_number', integer, (column) => column.notNull().defaultTo(0))
    .execute();
}
