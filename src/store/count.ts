/** Counts that end where it does not matter any more how many rows there are. */
import { type Expression, sql } from 'kysely';
import type { Db } from './store.ts';

/** How many rows a query has. Give it a limit: to count a million rows takes as long as to read them. */
export async function countRows(db: Db, limited: Expression<unknown>): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select cast(count(*) as bigint) as count from ${limited} as limited`.execute(db);
  return rows[0]?.count ?? 0;
}
