/**
 * The lock that makes a process the only daemon on a SQLite file.
 *
 * It is two locks of the operating system, which frees both with the process, however that dies. One is on a file beside the
 * store, named after what the store's path resolves to. The other one is on the store's own inode: it holds under each name
 * of the store, in each container that mounts it, and after somebody deleted the file beside it.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, statfsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { makePrivate, resolveStore } from './place.ts';

export interface StoreLock {
  /** On Linux the end of any descriptor of a file ends SQLite's locks on it: close the store's connections first. */
  close(): void;
}

/** Locks the store at this path. Throws if a daemon runs on it. A store that is not there yet has only the lock beside it. */
export function lockStore(file: string): StoreLock {
  const beside = lockBeside(resolveStore(file));
  try {
    const inode = beside === undefined ? undefined : lockInode(file);
    if (beside === undefined || inode === 'taken')
      throw new Error(
        `Another cvrsync daemon is running on ${file}: stop it first, or give this one a store of its own`,
      );
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

/** An exclusive transaction that nobody ends; undefined if another process has one. */
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

/** NFS, CIFS and SMB: there the kernel makes a lock by `flock` one of the kind that SQLite takes, and both would meet. */
const ONE_KIND_OF_LOCK = new Set([0x6969, 0xff534d42, 0xfe534d42]);
/** How `flock` says that another process holds the lock. */
const TAKEN = 1;

/**
 * The descriptor that holds a lock on the file's inode; undefined if the system has none to give. Node cannot lock: the
 * program `flock` does it on a descriptor that both share, and the lock lives as long as ours.
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
