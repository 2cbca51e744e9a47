/** The company index: what a record without a number is compared with, and the keys by which it finds it. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addCompanyIndex(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await tx.schema
    .createTable('match_entry')
    .addColumn('number', integer, (column) => column.primaryKey().notNull())
    .addColumn('body', text, (column) => column.notNull())
    .execute();
  await table('match_key')
    .addColumn('key', integer, (column) => column.notNull())
    .addColumn('entry', integer, (column) => column.notNull())
    .addColumn('company', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('match_key_pk', ['key', 'entry'])
    .execute();
}
