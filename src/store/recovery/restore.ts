/** Restores a SQLite store from a copy: checks it first, and leaves nothing of the old store behind. */
import { constants, existsSync } from 'node:fs';
import { chmod, copyFile, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import { prepareFile } from '../prepare-file.ts';

/** The suffixes of SQLite's other files. */
const JOURNALS = ['-wal', '-shm', '-journal'] as const;
/** Tables that every version of the store has. */
const OURS = ['schema_version', 'lane', 'link', 'receipt'];

const workingCopyOf = (store: string): string => `${path.resolve(store)}.restoring`;

/**
 * Copies the file and its journal next to the store. Throws if the copy is damaged or not a store of cvrsync. Only
 * reads the file, which may be on a read-only disk.
 */
export async function checkedCopy(from: string, store: string): Promise<string> {
  if (!existsSync(from)) throw new Error(`there is no file ${path.resolve(from)}`);
  prepareFile(store);
  const copy = workingCopyOf(store);
  await removeCopy(store);
  for (const end of ['', '-wal']) {
    if (!existsSync(`${from}${end}`)) continue;
    await copyFile(`${from}${end}`, `${copy}${end}`, constants.COPYFILE_FICLONE);
    await chmod(`${copy}${end}`, 0o600);
  }
  try {
    checkCopy(copy, path.resolve(from));
  } catch (error) {
    await removeCopy(store);
    throw error;
  }
  return copy;
}

export async function removeCopy(store: string): Promise<void> {
  for (const end of ['', ...JOURNALS]) await rm(`${workingCopyOf(store)}${end}`, { force: true });
}

/** Throws if a copy is damaged or not a store of cvrsync; the error names it `from`. No process may use the copy. */
export function checkCopy(copy: string, from: string): void {
  let db: Database.Database | undefined;
  try {
    db = new Database(copy);
    const found = db.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw new Error(`${from} is damaged (${String(found)}): name another copy`);
    const tables = new Set(db.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all());
    if (!OURS.every((name) => tables.has(name)))
      throw new Error(`${from} is a SQLite database, but not a store of cvrsync: name a copy that cvrsync backup made`);
  } catch (error) {
    const code = error instanceof Database.SqliteError ? error.code : '';
    if (code === 'SQLITE_NOTADB') throw new Error(`${from} is not a SQLite database`, { cause: error });
    if (code.startsWith('SQLITE_CORRUPT')) throw new Error(`${from} is damaged: name another copy`, { cause: error });
    throw error;
  } finally {
    db?.close();
  }
}

/** Writes after a time. */
export interface Activity {
  readonly events: number;
  readonly decisions: number;
  /** People's actions, by the audit's names. */
  readonly actions: Readonly<Record<string, number>>;
}

/** The writes of the current store after `since`; undefined if there is no readable store. */
export function activitySince(store: string, since: number): Activity | undefined {
  if (!existsSync(store)) return undefined;
  let db: Database.Database | undefined;
  try {
    db = new Database(store, { readonly: true });
    const count = (text: string): number => Number(db?.prepare(text).pluck().get(since));
    const actions = db
      .prepare<[number], { action: string; count: number }>(
        'select action, count(*) as count from audit where at > ? group by action order by action',
      )
      .all(since);
    return {
      events: count('select count(*) from receipt where received_at > ?'),
      decisions: count('select count(*) from history where at > ?'),
      actions: Object.fromEntries(actions.map(({ action, count }) => [action, count])),
    };
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

/**
 * Replaces the store by the working copy. Renames the old store with its journals, and returns its new name; undefined
 * if there was none. No process may have the store open.
 */
export async function putInPlace(store: string, aside: string): Promise<string | undefined> {
  const file = path.resolve(store);
  const copy = workingCopyOf(store);
  await synced(copy);
  const wasThere = existsSync(file);
  // The journals too: SQLite would replay the old one over the copy.
  for (const end of ['', ...JOURNALS]) if (existsSync(`${file}${end}`)) await rename(`${file}${end}`, `${aside}${end}`);
  await rename(copy, file);
  await synced(path.dirname(file));
  return wasThere ? aside : undefined;
}

/** Waits until a file or folder is on disk. */
async function synced(place: string): Promise<void> {
  const handle = await open(place, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
