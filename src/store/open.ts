/** Opens the store: the URL's scheme picks the engine. */
import { isEmpty, migrateStore, requireCurrent } from './migrations/migrations.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import { isPostgresUrl, type Store } from './store.ts';

export type { Db, Store, Tx } from './store.ts';

interface OpenOptions {
  readonly migrate?: boolean | 'new';
  readonly claim?: boolean;
  readonly connections?: number;
}

/**
 * Opens the store at a file path (SQLite, created with its folder) or a `postgres://` URL.
 *
 * Brings the tables up to date unless `migrate` says less: with `new` only where there are none yet, with false never. What
 * is older then is a {@link SchemaError}; a newer schema than this version knows always is. `claim`: for a daemon, before it
 * changes anything. `connections`: of the pool, on PostgreSQL. Errors never hold the URL's password.
 */
export async function openStore(
  url: string,
  { migrate = true, claim = false, connections }: OpenOptions = {},
): Promise<Store> {
  const store = isPostgresUrl(url) ? openPostgres(url, connections) : openSqlite(url);
  try {
    if (claim) await store.claimDaemon();
    const mayMigrate = migrate === 'new' ? await isEmpty(store) : migrate;
    await (mayMigrate ? migrateStore(store) : requireCurrent(store));
    return store;
  } catch (error) {
    await store.close().catch(() => {});
    throw error;
  }
}
