/** Operators, their sessions, and the audit of what people do by hand. */

import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addOperators(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, serial } = dialect(tx, engine);

  await table('operator')
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('token_hash', text, (column) => column.notNull().unique())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('revoked_at', integer)
    .execute();

  await table('session')
    .addColumn('hash', text, (column) => column.primaryKey().notNull())
    .addColumn('operator', text, (column) => column.notNull())
    .addColumn('agent', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('seen_at', integer, (column) => column.notNull())
    .addColumn('ends_at', integer, (column) => column.notNull())
    .execute();
  await tx.schema.createIndex('session_operator').on('session').columns(['operator', 'created_at']).execute();

  await table('login_link')
    .addColumn('hash', text, (column) => column.primaryKey().notNull())
    .addColumn('operator', text, (column) => column.notNull())
    .addColumn('ends_at', integer, (column) => column.notNull())
    .execute();

  await serial('audit', 'id')
    .addColumn('at', integer, (column) => column.notNull())
    .addColumn('actor_kind', text, (column) => column.notNull())
    .addColumn('actor', text, (column) => column.notNull())
    .addColumn('via', text, (column) => column.notNull())
    .addColumn('action', text, (column) => column.notNull())
    .addColumn('subject', text)
    .addColumn('detail', text)
    .addColumn('result', text, (column) => column.notNull())
    .execute();
  await tx.schema.createIndex('audit_actor').on('audit').columns(['actor', 'id']).execute();
  await tx.schema.createIndex('audit_action').on('audit').columns(['action', 'id']).execute();
  await tx.schema.createIndex('audit_subject').on('audit').columns(['subject', 'id']).execute();
}
