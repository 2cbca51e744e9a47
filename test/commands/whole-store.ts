/** The whole of a store, row by row: what an export is held against. */
import { sql } from 'kysely';
import { type Db, engineOf, type Store } from '../../src/store/store.ts';

/** Every table of the store, by the engine's own word. */
async function tablesOf(db: Db): Promise<readonly string[]> {
  const { rows } = await (engineOf(db) === 'postgres'
    ? sql<{
        name: string;
      }>`select table_name as name from information_schema.tables where table_schema = current_schema()`
    : sql<{ name: string }>`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`
  ).execute(db);
  return rows.map(({ name }) => name);
}

/** `table row` of all rows of the store that have this text somewhere. */
export async function rowsWith({ db }: Store, text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of await tablesOf(db)) {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(db);
    found.push(...rows.map((row) => `${table} ${JSON.stringify(row)}`).filter((row) => row.includes(text)));
  }
  return found.toSorted();
}
