/** Opens the store for a command, whether or not a daemon runs on it. */
import { existsSync } from 'node:fs';
import { openStore, type Store } from '../../store/open.ts';
import type { CommandContext } from '../cli/context.ts';

/** True for a PostgreSQL store, and for a SQLite file that exists. */
export const storeExists = (url: string): boolean => /^postgres(ql)?:\/\//.test(url) || existsSync(url);

/**
 * Opens the configured store for `work` and closes it afterwards. Does not migrate a store that is there, because an older
 * daemon may be running on it; `migrate` and `serve` do that. Makes one only with `create`: for commands that people run
 * before the daemon.
 */
export async function withStore<T>(
  context: CommandContext,
  work: (store: Store) => Promise<T>,
  { create = false }: { readonly create?: boolean } = {},
): Promise<T> {
  const { store: url } = await context.config();
  const isNew = !storeExists(url);
  if (isNew && !create) throw new Error(`there is no store at ${url} yet: run cvrsync serve, which creates it`);
  const store = await openStore(url, { migrate: isNew });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A time for people, in UTC; empty for null. */
export const shownTime = (ms: number | null): string =>
  ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
