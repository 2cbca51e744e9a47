/**
 * What SQLite is told of links, so that it finds those of a company by the company. Without statistics it takes every
 * index for equally good, and at a million links read all of a connection's, or all active ones, in every batch of events.
 *
 * Fixed numbers, not ANALYZE's: a plan must not depend on how full the table was when somebody looked. PostgreSQL looks by
 * itself. Source: https://sqlite.org/fileformat2.html#the_sqlite_stat1_table
 */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';

/** Rows in the index, then for each column of it: rows alike in the columns up to there. */
const STATISTICS: Readonly<Record<string, string>> = {
  // Its key, by the table's name: a connection has hundreds of thousands, a record one.
  link: '1000000 500000 1',
  link_entity: '1000000 2 1',
  link_record: '1000000 1 1',
  link_observed: '1000000 500000 400000 400000',
  link_inactive: '10000 4000 2000 1',
  link_refused: '1000 500 1',
  link_unconfirmed: '1000 500 1',
};

export async function describeLinks(tx: Tx, engine: Engine): Promise<void> {
  // Active links are nearly all there are: to look for them by their state is to read the table.
  await tx.schema.dropIndex('link_state').execute();
  await sql`create index link_inactive on link (state, provider, record_id) where state <> 'active'`.execute(tx);
  if (engine === 'postgres') return;
  // Makes the table of statistics.
  await sql`analyze schema_version`.execute(tx);
  await sql`delete from sqlite_stat1 where tbl in ('link', 'schema_version')`.execute(tx);
  for (const [index, numbers] of Object.entries(STATISTICS))
    await sql`insert into sqlite_stat1 (tbl, idx, stat) values ('link', ${index}, ${numbers})`.execute(tx);
  await sql`analyze sqlite_schema`.execute(tx);
}
