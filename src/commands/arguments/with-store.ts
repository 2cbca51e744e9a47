/** The store for a command that runs beside the daemon, or without one. */
import { existsSync } from 'node:fs';
import { openStore, type Store } from '../../store/open.ts';
import type { CommandContext } from '../cli/context.ts';

/** Whether a configured store is a PostgreSQL, or a SQLite file that is there. */
export const storeExists = (url: string): boolean => /^postgres(ql)?:\/\//.test(url) || existsSync(url);

/**
 * Opens the configured store for `work` and closes it whatever happens. Never makes or migrates it: an older daemon may
 * be running on it; `migrate` and `serve` do.
 */
export async function withStore<T>(context: CommandContext, work: (store: Store) => Promise<T>): Promise<T> {
  const { store: url } = await context.config();
  if (!storeExists(url)) throw new Error(`there is no store at ${url} yet: cvrsync serve makes it`);
  const store = await openStore(url, { migrate: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A time for people, in UTC; empty where there is none. */
export const shownTime = (ms: number | null): string =>
  ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
