/** Single sign-on: who an operator is to the issuer, and sign-ons that began. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addSignOns(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await tx.schema.alterTable('operator').addColumn('subject', text).execute();
  await tx.schema.createIndex('operator_subject').on('operator').column('subject').unique().execute();
  await table('sign_on')
    .addColumn('hash', text, (column) => column.primaryKey().notNull())
    .addColumn('nonce', text, (column) => column.notNull())
    .addColumn('verifier', text, (column) => column.notNull())
    .addColumn('next', text, (column) => column.notNull())
    .addColumn('kept', text)
    .addColumn('ends_at', integer, (column) => column.notNull())
    .execute();
}
