/** Opens the store; the URL's scheme selects the engine. */
import { resolve } from 'node:path';
import { isStoreLost, LostStoreError, markStore, readSeen, wasStoreAt } from '../file/marker.ts';
import { resolveStore } from '../file/place.ts';
import { isEmpty, migrateStore, requireCurrent } from '../migrations/migrations.ts';
import { refuseMoved, refusingMoved } from '../move/mark.ts';
import { isUnwritten } from '../recovery/copy.ts';
import { isBefore, recordGap } from '../recovery/gap.ts';
import { hasLostCommits } from '../recovery/journal.ts';
import { isPostgresUrl, type Store } from '../store.ts';
import { openPostgres, type PostgresOptions } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

interface OpenOptions extends PostgresOptions {
  readonly migrate?: boolean | 'new';
  readonly claim?: boolean;
  readonly startEmpty?: boolean;
  readonly mayBeMoved?: boolean;
}

/**
 * Opens the store at a file path (SQLite, created with its folder) or a `postgres://` URL. Brings the tables up to
 * date; with `migrate: 'new'` only in an empty store, with `migrate: false` never. Throws {@link SchemaError} for an
 * older schema that it may not update and for a newer one. A daemon sets `claim`, so that it claims the store before it
 * changes anything. Throws {@link LostStoreError} if the SQLite store that was here is gone, unless `startEmpty` is
 * set, and `MovedStoreError` for a store that was copied elsewhere or is an incomplete copy, unless `mayBeMoved` is set.
 * Commits that the journal lost become a gap. Errors never contain the URL's password.
 */
export async function openStore(url: string, options: OpenOptions = {}): Promise<Store> {
  if (isPostgresUrl(url)) return openAt(url, options);
  return openAt(url, options).catch((error: unknown) => Promise.reject(withRoom(url, error)));
}

async function openAt(
  url: string,
  { migrate = true, claim = false, startEmpty = false, mayBeMoved = false, ...postgres }: OpenOptions,
): Promise<Store> {
  const isFile = !isPostgresUrl(url);
  // Check this first: another process may be creating the store.
  const wasMade = isFile && !startEmpty && wasStoreAt(url);
  if (wasMade && isStoreLost(url)) throw new LostStoreError(url);
  // Check this before SQLite opens the file and drops what it cannot read.
  const lostCommits = isFile && hasLostCommits(`${resolveStore(url)}-wal`);
  const store = isFile ? openSqlite(url) : openPostgres(url, postgres);
  try {
    await store.check();
    if (claim) await store.claimDaemon();
    const isNew = await isEmpty(store);
    if (isNew && wasMade) throw new LostStoreError(url);
    const mayMigrate = migrate === 'new' ? isNew : migrate;
    await (mayMigrate ? migrateStore(store) : requireCurrent(store));
    // After the claim: a copy writes its mark first, and then looks for daemons.
    if (!mayBeMoved) await refuseMoved(store.db, url);
    const usable = claim || mayBeMoved ? store : refusingMoved(store, url);
    if (isFile) await settleFile(usable, url, { lostCommits, isDaemon: claim, isNew });
    return usable;
  } catch (error) {
    await store.close().catch(() => {});
    throw error;
  }
}

/** Adds the file and the remedy to an error of a full disk. */
function withRoom(file: string, error: unknown): unknown {
  if (!isUnwritten(error)) return error;
  const advice = 'make room on its disk, or name a path on another as `store` in the configuration';
  return new Error(`The store ${resolve(file)} cannot be written (${error.message}): ${advice}`, { cause: error });
}

interface OpenedFile {
  readonly lostCommits: boolean;
  readonly isDaemon: boolean;
  readonly isNew: boolean;
}

/** Records commits that the file lost, and writes its marker. */
async function settleFile(store: Store, url: string, { lostCommits, isDaemon, isNew }: OpenedFile): Promise<void> {
  const seen = isDaemon && !isNew ? readSeen(url) : undefined;
  if (lostCommits || (seen !== undefined && (await isBefore(store.db, seen))))
    await store.write((tx) => recordGap(tx, { cause: 'journal' }, Date.now()));
  if (isDaemon || isNew) markStore(url);
}
