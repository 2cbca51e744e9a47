/** Counts that stop at a limit, and walks through tables that are too large for one statement. */
import { type Expression, sql } from 'kysely';
import { type Db, engineOf } from './store.ts';

/** Counts the rows of a query. Give the query a limit: counting a million rows takes as long as reading them. */
export async function countRows(db: Db, limited: Expression<unknown>): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select cast(count(*) as bigint) as count from ${limited} as limited`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Larger tables are estimated. */
const COUNTED = 10_000;

/** The number of rows in a table that only grows: exact for a small table, else the engine's estimate. */
export async function aboutRows(
  db: Db,
  table: 'snapshot',
): Promise<{ readonly count: number; readonly isAbout: boolean }> {
  const limited = db
    .selectFrom(table)
    .select(sql.lit(1).as('one'))
    .limit(COUNTED + 1);
  const count = await countRows(db, limited);
  if (count <= COUNTED) return { count, isAbout: false };
  const { rows } = await (engineOf(db) === 'postgres'
    ? sql<{
        count: number;
      }>`select cast(reltuples as bigint) as count from pg_class where oid = cast(${table} as regclass)`
    : sql<{ count: number }>`select max(rowid) as count from ${sql.table(table)}`
  ).execute(db);
  return { count: Math.max(count, rows[0]?.count ?? 0), isAbout: true };
}

/** Rows to read in one statement of a walk: some milliseconds. */
export const ROWS_AT_ONCE = 5_000;

/** Reads page by page and lets other work run in between. `readPage` returns the key to continue after. */
export async function inPages<K>(first: K, readPage: (after: K) => Promise<K | undefined>): Promise<void> {
  for (let after: K | undefined = first; after !== undefined; ) {
    after = await readPage(after);
    if (after !== undefined) await new Promise((resolve) => setImmediate(resolve));
  }
}
