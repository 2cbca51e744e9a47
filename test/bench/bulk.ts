/** Runs many inserts on a new store as fast as the engine can: without journal, and with the indexes made in the end. */
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { type Engine, isPostgresUrl } from '../../src/store/store.ts';

export const engineAt = (url: string): Engine => (isPostgresUrl(url) ? 'postgres' : 'sqlite');

/** A connection that runs statements whole. */
interface Bulk {
  run(statements: string): Promise<unknown>;
  /** The statements that make the indexes of the tables, without those that a constraint owns. */
  indexes(tables: readonly string[]): Promise<readonly { readonly name: string; readonly sql: string }[]>;
  close(): Promise<void>;
}

/** Runs the statements, and then has the engine look at the tables. Drops the tables' indexes meanwhile. */
export async function runInBulk(url: string, tables: readonly string[], statements: readonly string[]): Promise<void> {
  const bulk = engineAt(url) === 'postgres' ? await onPostgres(url) : onSqlite(url);
  const indexes = await bulk.indexes(tables);
  for (const { name } of indexes) await bulk.run(`drop index ${name}`);
  for (const statement of statements) await bulk.run(statement);
  for (const { sql } of indexes) await bulk.run(sql);
  await bulk.close();
}

function onSqlite(file: string): Bulk {
  const db = new Database(file);
  // Otherwise SQLite keeps its journal.
  db.unsafeMode();
  db.pragma('journal_mode = DELETE');
  for (const setting of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -500000', 'temp_store = MEMORY'])
    db.pragma(setting);
  const of = db.prepare<[string], { name: string; sql: string }>(
    "select name, sql from sqlite_schema where type = 'index' and sql is not null and tbl_name = ?",
  );
  return {
    run: async (statements) => db.exec(statements),
    indexes: async (tables) => tables.flatMap((table) => of.all(table)),
    async close() {
      // As an installation has it after its daily `pragma optimize`, but for the numbers that the schema fixes.
      db.pragma('journal_mode = WAL');
      db.close();
    },
  };
}

async function onPostgres(url: string): Promise<Bulk> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'; set jit = off");
  return {
    run: (statements) => client.query(statements),
    async indexes(tables) {
      const { rows } = await client.query<{ name: string; sql: string }>(
        `select quote_ident(indexname) as name, indexdef as sql from pg_indexes where schemaname = current_schema() and tablename = any ($1)
          and indexname not in (select conname from pg_constraint)`,
        [[...tables]],
      );
      return rows;
    },
    async close() {
      await client.query('vacuum analyze');
      await client.end();
    },
  };
}
