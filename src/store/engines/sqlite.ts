/** The store in one SQLite file, for one daemon and short-lived commands. */
import { existsSync, statSync } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Kysely, type SqliteDatabase, SqliteDialect, sql } from 'kysely';
import { lockStore, type StoreLock } from '../file/lock.ts';
import { noteSeen } from '../file/marker.ts';
import { createPlaceCheck, makePrivate, refuseHardLinks, resolveStore } from '../file/place.ts';
import { prepareFile } from '../prepare-file.ts';
import { copyStore } from '../recovery/copy.ts';
import type { StoreSchema } from '../schema.ts';
import { type Db, newHolder, type Store, type Tx } from '../store.ts';

const FULL = 2;
const MIB = 1024 * 1024;
/** How long a transaction waits for another process's writer, in ms. */
const PATIENCE_MS = 5_000;
/**
 * SQLite sleeps on the main thread while it waits for a lock: keep this short, and wait asynchronously for the rest.
 */
const BUSY_MS = 50;
/** Compiled statements to keep for a connection. */
const COMPILED = 200;
/** Cache for reading; the operating system caches the file too. better-sqlite3's default is 16 MB. */
const READ_CACHE_KIB = 4_096;
/** Cache for writing: pages that a sync of both CRMs changes repeatedly. With 4 MB it takes 10 % more CPU time. */
const WRITE_CACHE_KIB = 8_192;
/** Check smaller files at start: reading a larger one takes too long. */
const CHECK_BELOW = 64 * MIB;

/** Opens or creates the file. Throws if it is damaged, not ours, or not durable. */
export function openSqlite(given: string): Store {
  // Absolute, for error messages.
  const file = path.resolve(given);
  prepareFile(file);
  const writer = openWriter(file);
  const reader = new Database(file, { readonly: true, timeout: PATIENCE_MS });
  reader.pragma(`cache_size = -${READ_CACHE_KIB}`);
  const writing = new Kysely<StoreSchema>({ dialect: new SqliteDialect({ database: forKysely(writer) }) });
  const db = new Kysely<StoreSchema>({ dialect: new SqliteDialect({ database: forKysely(reader) }) });
  const confirmPlace = createPlaceCheck(file);
  const log = openLog(file);
  let proven = false;
  let lock: StoreLock | undefined;
  let holder = newHolder(false);

  return {
    db,
    engine: 'sqlite',
    async write(work, { ephemeral = false, syncsAside = false } = {}) {
      const result = await untilFree(() =>
        ephemeral || syncsAside ? withoutSync(writer, writing, work) : writing.transaction().execute(work),
      );
      if (!proven) proveDurable(writer, file);
      proven = true;
      confirmPlace();
      if (syncsAside) await log.sync();
      return result;
    },
    async check() {},
    async ping() {
      await sql`select count(*) from schema_version`.execute(db);
      if (proven) confirmPlace();
    },
    async backup(to) {
      await copyStore(file, to);
    },
    async claimDaemon() {
      if (lock !== undefined) return;
      lock = lockStore(file);
      holder = newHolder(true);
    },
    get holder() {
      return holder;
    },
    async livingDaemons() {
      return lock === undefined ? [] : [holder];
    },
    async checkpoint() {
      // Another connection while this one writes: SQLite refuses a checkpoint during a transaction of the same one.
      if (writer.inTransaction) checkpoint(file);
      else writer.pragma('wal_checkpoint(PASSIVE)');
    },
    async walBytes() {
      return sizeOf(`${file}-wal`);
    },
    async compact() {
      await untilFree(async () => compact(file));
    },
    async freeBytes() {
      const disk = await statfs(path.dirname(file));
      return disk.bavail * disk.bsize;
    },
    async sizeBytes() {
      return sizeOf(file) + sizeOf(`${file}-wal`);
    },
    noteSeen(at) {
      noteSeen(file, at);
    },
    async close() {
      await log.close();
      await db.destroy();
      await writing.destroy();
      reader.close();
      writer.close();
      lock?.close();
    },
  };
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function openWriter(file: string): Database.Database {
  makePrivate(file);
  refuseHardLinks(file);
  const db = new Database(file, { timeout: BUSY_MS });
  try {
    if (existsSync(file) && statSync(file).size < CHECK_BELOW) checkWhole(db, file);
    db.pragma('journal_mode = WAL');
    // After the switch to WAL, in which better-sqlite3 defaults to NORMAL and loses commits when power fails.
    db.pragma('synchronous = FULL');
    // As many pages as the limit below: pages that many commits touch are copied into the file once.
    db.pragma('wal_autocheckpoint = 16000');
    db.pragma(`journal_size_limit = ${64 * MIB}`);
    db.pragma('foreign_keys = ON');
    db.pragma(`cache_size = -${WRITE_CACHE_KIB}`);
    return db;
  } catch (error) {
    db.close();
    const code = error instanceof Database.SqliteError ? error.code : '';
    if (code === 'SQLITE_NOTADB') throw new Error(`${file} is not a SQLite database`, { cause: error });
    if (code.startsWith('SQLITE_CORRUPT')) throw damaged(file, error);
    throw error;
  }
}

function checkWhole(db: Database.Database, file: string): void {
  const found = db.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw damaged(file, new Error(String(found)));
}

function damaged(file: string, cause: unknown): Error {
  return new Error(`${file} is damaged: restore it from a backup`, { cause });
}

/** The first write switches SQLite to its write-ahead log, and only then is the setting certain. */
function proveDurable(db: Database.Database, file: string): void {
  const level = db.pragma('synchronous', { simple: true });
  if (level !== FULL)
    throw new Error(`${file}: SQLite would not wait for the disk (synchronous is ${level}, not ${FULL})`);
}

/**
 * Adapts the connection to Kysely. Transactions take the write lock at once, because one that reads first may fail when
 * it writes. A rollback after SQLite's own (full disk) is ignored, so that the cause is thrown.
 */
function forKysely(db: Database.Database): SqliteDatabase {
  const compiled = new Map<string, Database.Statement>();
  return {
    close: () => db.close(),
    prepare(text) {
      if (text === 'begin') text = 'begin immediate';
      if (text === 'rollback' && !db.inTransaction) return db.prepare('select 1');
      const statement = compiled.get(text) ?? db.prepare(text);
      // Most recently used last.
      compiled.delete(text);
      compiled.set(text, statement);
      const oldest = compiled.size > COMPILED ? compiled.keys().next().value : undefined;
      if (oldest !== undefined) compiled.delete(oldest);
      return statement;
    },
  };
}

/** The log keeps the order of commits: a later commit that waits for the disk also waits for this one. */
const withoutSync = <T>(writer: Database.Database, writing: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  // No other transaction uses the connection meanwhile.
  writing.connection().execute(async (connection) => {
    // Not `pragma`, which takes ten times as long.
    writer.exec('pragma synchronous = NORMAL');
    try {
      return await connection.transaction().execute(work);
    } finally {
      writer.exec('pragma synchronous = FULL');
    }
  });

/**
 * The write-ahead log, which another thread waits for until it is on disk. SQLite holds no lock on it that a close would
 * end.
 */
function openLog(file: string) {
  let log: Promise<FileHandle> | undefined;
  return {
    async sync(): Promise<void> {
      log ??= openNamed(`${resolveStore(file)}-wal`).catch((error: unknown) => {
        log = undefined;
        throw error;
      });
      await (await log).datasync();
    },
    async close(): Promise<void> {
      await (await log)?.close();
    },
  };
}

/** Also syncs the folder, so that the name of a new file is on disk. */
async function openNamed(file: string): Promise<FileHandle> {
  const folder = await open(path.dirname(file));
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
  return open(file, 'r+');
}

async function untilFree<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const busy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy || performance.now() > end) throw error;
      await sleep(Math.random() * BUSY_MS);
    }
  }
}

function checkpoint(file: string): void {
  const db = new Database(file, { timeout: BUSY_MS });
  try {
    db.pragma('wal_checkpoint(PASSIVE)');
  } finally {
    db.close();
  }
}

/** A reader that is still active keeps its part of the log. */
function compact(file: string): void {
  const db = new Database(file, { timeout: BUSY_MS });
  try {
    db.exec('vacuum');
    db.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}
