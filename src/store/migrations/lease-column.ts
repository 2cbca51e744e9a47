/** Columns of claims. `lease_until` is in no index: PostgreSQL claims and renews lanes in place. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addLeaseColumn(tx: Tx, engine: Engine): Promise<void> {
  const { integer } = dialect(tx, engine);
  await tx.schema.alterTable('lane').addColumn('lease_until', integer).execute();
  await sql`update lane set lease_until = due_at where epoch is not null`.execute(tx);
  // An update in place needs room on the row's page.
  if (engine === 'postgres') await sql`alter table lane set (fillfactor = 50)`.execute(tx);
}

/** What shows a poison event: runs that never ended, of a lane and of a receipt. */
export async function addBeginnings(tx: Tx, engine: Engine): Promise<void> {
  const { integer } = dialect(tx, engine);
  const columns = { lane: 'unended', receipt: 'begun' };
  for (const [table, column] of Object.entries(columns))
    await tx.schema
      .alterTable(table)
      .addColumn(column, integer, (added) => added.notNull().defaultTo(0))
      .execute();
}
