/** Opens the store for a command, whether or not a daemon runs on it. */
import { existsSync } from 'node:fs';
import { openStore, type Store } from '../../store/open.ts';
import type { CommandContext } from '../cli/context.ts';

/** True for a PostgreSQL store, and for a SQLite file that exists. */
export const storeExists = (url: string): boolean => /^postgres(ql)?:\/\//.test(url) || existsSync(url);

/**
 * Opens the configured store for `work` and closes it afterwards. Does not create or migrate the store, because an older
 * daemon may be running on it; `migrate` and `serve` do that.
 */
export async function withStore<T>(context: CommandContext, work: (store: Store) => Promise<T>): Promise<T> {
  const { store: url } = await context.config();
  if (!storeExists(url)) throw new Error(`there is no store at ${url} yet: run cvrsync serve, which creates it`);
  const store = await openStore(url, { migrate: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A time for people, in UTC; empty for null. */
export const shownTime = (ms: number | null): string =>
  ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
