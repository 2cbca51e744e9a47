/** Counts that stop at a limit, and page-by-page reads of tables that are too large for one statement. */
import { type Expression, sql } from 'kysely';
import { type Db, engineOf } from './store.ts';

/** Counts the rows of a query. Give the query a limit: counting a million rows takes as long as reading them. */
export async function countRows(db: Db, limited: Expression<unknown>): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select cast(count(*) as bigint) as count from ${limited} as limited`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The number of rows of a query, and the least `since` of its first rows if requested. */
interface Counted {
  readonly count: number;
  readonly least: number | undefined;
}

/**
 * Counts the rows of many queries, each up to `most`, in one statement: on PostgreSQL a statement is a call over the network.
 * `lookedAt`: how many rows of each query to search for the least `since`.
 */
export async function countEach(
  db: Db,
  queries: readonly Expression<unknown>[],
  { most, lookedAt = 0 }: { readonly most: number; readonly lookedAt?: number },
): Promise<readonly Counted[]> {
  if (queries.length === 0) return [];
  const columns = queries.flatMap((rows, at) => [
    sql`(select cast(count(*) as bigint) from (select 1 as one from ${rows} as waiting limit ${most}) as counted) as ${sql.ref(`n${at}`)}`,
    ...(lookedAt === 0
      ? []
      : [
          sql`(select min(since) from (select since from ${rows} as waiting limit ${lookedAt}) as first) as ${sql.ref(`s${at}`)}`,
        ]),
  ]);
  const { rows } = await sql<Readonly<Record<string, number | null>>>`select ${sql.join(columns)}`.execute(db);
  return queries.map((_, at) => ({ count: rows[0]?.[`n${at}`] ?? 0, least: rows[0]?.[`s${at}`] ?? undefined }));
}

/** Larger tables are estimated. */
const COUNTED = 5_000;

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

/** Rows to read in one statement of {@link inPages}: some milliseconds. */
export const ROWS_AT_ONCE = 5_000;

/** Reads page by page and lets other work run in between. `readPage` returns the key to continue after. */
export async function inPages<K>(first: K, readPage: (after: K) => Promise<K | undefined>): Promise<void> {
  for (let after: K | undefined = first; after !== undefined; ) {
    after = await readPage(after);
    if (after !== undefined) await new Promise((resolve) => setImmediate(resolve));
  }
}
