/** The end of a lease in a column of its own, which no index holds: PostgreSQL claims and renews lanes in place. */
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
