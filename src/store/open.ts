/** Opens the store: the URL's scheme picks the engine. */
import { migrateStore, requireCurrent } from './migrations/migrations.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import type { Store } from './store.ts';

export type { Db, Store, Tx } from './store.ts';

/**
 * Opens the store at a file path (SQLite, created with its folder) or a `postgres://` URL.
 *
 * Brings the tables up to date unless `migrate` is false, where an older schema is an error. A newer schema than this
 * version knows always is. `connections`: of the pool, on PostgreSQL. Errors never hold the URL's password.
 */
export async function openStore(
  url: string,
  options: { migrate?: boolean; connections?: number } = {},
): Promise<Store> {
  const store = /^postgres(ql)?:\/\//.test(url) ? openPostgres(url, options.connections) : openSqlite(url);
  try {
    await (options.migrate === false ? requireCurrent(store) : migrateStore(store));
    return store;
  } catch (error) {
    await store.close().catch(() => {});
    throw error;
  }
}
