/** Brings the store's tables up to date, version by version in one transaction. */

import { sql } from 'kysely';
import { lockUntilCommit } from '../advisory-lock.ts';
import type { Db, Engine, Store } from '../store.ts';
import { addConnectorTables } from './connector-tables.ts';
import type { Migration } from './dialect.ts';
import { addRuntimeTables } from './runtime-tables.ts';
import { addServiceTables } from './service-tables.ts';

const baseline: Migration = async (tx, engine) => {
  await addRuntimeTables(tx, engine);
  await addConnectorTables(tx, engine);
  await addServiceTables(tx, engine);
};

/** Append only; never change a released migration. The position is the version. */
const MIGRATIONS: readonly Migration[] = [baseline];

/**
 * Brings the tables up to date; two processes may do so at once. Throws if the schema is newer than this version.
 * `next`: migrations of a later version, for tests.
 */
export async function migrateStore(store: Store, next: readonly Migration[] = []): Promise<void> {
  const migrations = [...MIGRATIONS, ...next];
  const last = migrations.length;
  const version = await currentVersion(store.db, store.engine);
  if (version === last) return;
  refuseNewer(version, last);
  await store.write(async (tx) => {
    await lockUntilCommit(tx, 'schema', 'exclusive');
    const from = await currentVersion(tx, store.engine);
    refuseNewer(from, last);
    if (from === undefined) await sql`create table schema_version (version integer not null)`.execute(tx);
    for (const migrate of migrations.slice(from ?? 0)) await migrate(tx, store.engine);
    await sql`delete from schema_version`.execute(tx);
    await sql`insert into schema_version (version) values (${last})`.execute(tx);
  });
}

/** A schema that this version cannot use. The message has the remedy. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** Whether the store has no tables yet, so that no daemon uses it. */
export const isEmpty = async (store: Store): Promise<boolean> =>
  (await currentVersion(store.db, store.engine)) === undefined;

/** Throws unless the schema is the one of this version. */
export async function requireCurrent(store: Store): Promise<void> {
  const last = MIGRATIONS.length;
  const version = (await currentVersion(store.db, store.engine)) ?? 0;
  refuseNewer(version, last);
  if (version < last)
    throw new SchemaError(`The store has schema version ${version}, this cvrsync needs ${last}: run cvrsync migrate`);
}

function refuseNewer(version: number | undefined, last: number): void {
  if (version === undefined || version <= last) return;
  throw new SchemaError(
    `The store has schema version ${version}, written by a newer cvrsync; this one knows ${last}: ` +
      'run the newer version, or restore a backup from before the upgrade',
  );
}

/** Undefined if the store has no tables. */
async function currentVersion(db: Db, engine: Engine): Promise<number | undefined> {
  const known =
    engine === 'postgres'
      ? // Not to_regclass: it may answer from before another process's migration, which we have just waited for.
        sql<{ found: unknown }>`select 1 as found from pg_tables
          where tablename = 'schema_version' and schemaname = any(current_schemas(false))`
      : sql<{ found: unknown }>`select 1 as found from sqlite_schema where type = 'table' and name = 'schema_version'`;
  if ((await known.execute(db)).rows.length === 0) return undefined;
  const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db);
  return rows[0]?.version ?? 0;
}
