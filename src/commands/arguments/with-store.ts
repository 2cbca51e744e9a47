/** Opens the store for a command, whether or not a daemon runs on it. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { openStore } from '../../store/engines/open.ts';
import { isStoreLost, LostStoreError } from '../../store/file/marker.ts';
import { isPostgresUrl, type Store } from '../../store/store.ts';
import type { CommandContext } from '../cli/context.ts';

/** Whether it is a PostgreSQL store, or a SQLite file that exists. */
export const storeExists = (url: string): boolean => isPostgresUrl(url) || existsSync(url);

/** The store for people: the absolute path of the file, or the engine. */
export const shownStore = (url: string): string => (isPostgresUrl(url) ? 'postgres' : `sqlite at ${path.resolve(url)}`);

/** The error says where the store should be. */
export function requireStore(url: string): void {
  if (storeExists(url)) return;
  if (isStoreLost(url)) throw new LostStoreError(url);
  const from = path.isAbsolute(url) ? '' : ` (\`store: ${url}\` starts at the working directory)`;
  throw new Error(`there is no store at ${path.resolve(url)} yet${from}: run cvrsync serve, which creates it`);
}

/**
 * Opens the configured store for `work`, then closes it. Does not migrate a store that has tables, because an older
 * daemon may be running on it; `migrate` and `serve` do that. Creates a store only with `create`, for commands that
 * people run before the daemon.
 */
export async function withStore<T>(
  context: CommandContext,
  work: (store: Store) => Promise<T>,
  { create = false }: { readonly create?: boolean } = {},
): Promise<T> {
  const { store: url } = await context.config([]);
  if (!create) requireStore(url);
  const store = await openStore(url, { migrate: create && 'new' });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
