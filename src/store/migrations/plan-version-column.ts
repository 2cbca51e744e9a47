/** Plans that people edit on pages: which rows were edited since, and all rows of a scan in their order. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addPlanVersions(tx: Tx, engine: Engine): Promise<void> {
  const { integer } = dialect(tx, engine);
  await tx.schema
    .alterTable('scan')
    .addColumn('version', integer, (column) => column.notNull().defaultTo(0))
    .execute();
  await tx.schema.createIndex('scan_order').on('scan').columns(['provider', 'purpose', 'position']).execute();
}
