/** Copies a SQLite store that is in use. */
import { existsSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import { makePrivate } from '../file/place.ts';
import { prepareBackup } from '../prepare-file.ts';

const MIB = 1024 * 1024;
/** How long the copy waits for another process's writer, in ms. */
const PATIENCE_MS = 5_000;

/**
 * Copies one state in steps. Its own read transaction stays open: otherwise SQLite starts over after every commit of
 * another connection, and never ends under load.
 */
export async function copyStore(from: string, to: string): Promise<void> {
  if (existsSync(to)) throw new Error(`${to} exists already: name a new file for the backup`);
  prepareBackup(to);
  const partial = `${to}.partial`;
  await rm(partial, { force: true });
  makePrivate(partial);
  const source = new Database(from, { readonly: true, timeout: PATIENCE_MS });
  try {
    source.exec('begin');
    source.prepare('select count(*) from sqlite_schema').get();
    await source.backup(partial);
    await rename(partial, to);
  } catch (error) {
    if (!isUnwritten(error)) throw error;
    const mib = Math.ceil(statSync(from).size / MIB);
    const advice = `the copy takes about ${mib} MiB: make room on that disk, or name a file on another`;
    throw new Error(`cannot write ${path.resolve(to)} (${error.message}); ${advice}`, { cause: error });
  } finally {
    source.close();
    await rm(partial, { force: true });
  }
}

/** A full disk or a quota. */
export const isUnwritten = (error: unknown): error is Error =>
  error instanceof Error &&
  'code' in error &&
  /^(?:SQLITE_FULL$|SQLITE_IOERR|ENOSPC$|EDQUOT$|EFBIG$)/u.test(String(error.code));
