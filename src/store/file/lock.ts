/**
 * Locks a SQLite store for one daemon, with two locks of the operating system, which frees both when the process ends.
 * One is on a file next to the store, named after the store's resolved path. The other is on the store's own inode: it
 * holds under every name of the store, in every container that mounts it, and after somebody deleted the file next to
 * it.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, statfsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { makePrivate, resolveStore } from './place.ts';

export interface StoreLock {
  /** Close the store's connections first: on Linux, closing any descriptor of a file ends SQLite's locks on it. */
  close(): void;
}

/** Throws if another daemon runs on the store. A store that does not exist yet gets only the lock next to it. */
export function lockStore(file: string): StoreLock {
  const beside = lockBeside(resolveStore(file));
  try {
    const inode = beside === undefined ? undefined : lockInode(file);
    if (beside === undefined || inode === 'taken')
      throw new Error(`Another cvrsync daemon is running on ${file}: stop it first, or give this one its own store`);
    return {
      close() {
        beside.close();
        if (inode !== undefined) closeSync(inode);
      },
    };
  } catch (error) {
    beside?.close();
    throw error;
  }
}

/** An exclusive transaction that stays open; undefined if another process has one. */
function lockBeside(store: string): Database.Database | undefined {
  makePrivate(`${store}.lock`);
  const lock = new Database(`${store}.lock`, { timeout: 0 });
  try {
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
}

/**
 * NFS, CIFS and SMB. On them `flock` takes the same kind of lock as SQLite, so that the two would collide.
 */
const ONE_KIND_OF_LOCK = new Set([0x6969, 0xff534d42, 0xfe534d42]);
/** The exit code of `flock` if another process holds the lock. */
const TAKEN = 1;

/**
 * The descriptor that holds a lock on the file's inode; undefined if the system has no `flock`. Node cannot lock, so
 * the program `flock` locks a shared descriptor; the lock lives as long as ours.
 */
function lockInode(file: string): number | 'taken' | undefined {
  if (process.platform !== 'linux' || !existsSync(file) || ONE_KIND_OF_LOCK.has(statfsSync(file).type))
    return undefined;
  const descriptor = openSync(file, 'r+');
  const { status } = spawnSync('flock', ['-xn', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] });
  if (status === 0) return descriptor;
  closeSync(descriptor);
  return status === TAKEN ? 'taken' : undefined;
}
