/** The store as both engines offer it. */
import { randomInt } from 'node:crypto';
import { type Kysely, PostgresAdapter, type Transaction } from 'kysely';
import type { StoreSchema } from './schema.ts';

export type Db = Kysely<StoreSchema>;
export type Tx = Transaction<StoreSchema>;
export type Engine = 'sqlite' | 'postgres';

/** A PostgreSQL URL; any other text is the path of a SQLite file. */
export const isPostgresUrl = (store: string): boolean => /^postgres(ql)?:\/\//.test(store);

/** Host, port and database of a PostgreSQL URL, without user and password. */
export function placeOf(url: string): string {
  try {
    const { hostname, port, pathname, searchParams } = new URL(url);
    return `${searchParams.get('host') ?? hostname}${port === '' ? '' : `:${port}`}${pathname}`;
  } catch {
    return 'its address';
  }
}

/** Holders of daemons start here; those of commands are smaller. */
export const FIRST_DAEMON = 2 ** 27;

/** A random id for one opening of the store; a positive 32-bit integer, as PostgreSQL's locks require. */
export const newHolder = (isDaemon: boolean): number => (isDaemon ? FIRST_DAEMON : 0) + randomInt(1, FIRST_DAEMON);

export interface CommitOptions {
  /**
   * The write is worthless after the machine restarts, such as a claim or a call's slot: a power cut may undo it if no
   * other write followed. It survives the process. SQLite does not wait for the disk.
   */
  readonly ephemeral?: true;
  /**
   * Waits for the disk in another thread, so that the JavaScript thread goes on. Other code may read the write a moment
   * before it is on disk; its own later writes reach the disk after this one.
   */
  readonly syncsAside?: true;
}

/** See {@link CommitOptions.syncsAside}. */
export const ASIDE: CommitOptions = { syncsAside: true };

/** The daemon's durable memory: a resolved `write` is on disk. */
export interface Store {
  /**
   * For reads. On SQLite a separate connection that refuses writes, so that a read inside `write` cannot block on it.
   */
  readonly db: Db;
  readonly engine: Engine;
  /**
   * Runs `work` in one transaction and resolves once it is durable. After a lock or deadlock the whole of `work` runs
   * again, so it must change nothing but `tx`. Never nest it: SQLite has one writer.
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: CommitOptions): Promise<T>;
  /** PostgreSQL: throws, with the remedy, if the database or the connection to it cannot hold a store. */
  check(): Promise<void>;
  /** Throws if the store cannot be reached. */
  ping(): Promise<void>;
  /**
   * Copies one consistent state into a new file while others write. Throws if the file exists or the engine cannot do
   * it.
   */
  backup(file: string): Promise<void>;
  /**
   * Makes this opening of the store a daemon's until the process ends. SQLite allows one: throws if another daemon
   * runs. Repeat it: on PostgreSQL the connection that proves the daemon alive may break.
   */
  claimDaemon(): Promise<void>;
  /** Identifies this opening of the store in claims; {@link FIRST_DAEMON} or above for a daemon. */
  readonly holder: number;
  /** The holders of live daemons, this one included if it is one. */
  livingDaemons(): Promise<readonly number[]>;
  /** SQLite: moves the part of the write-ahead log that no reader needs into the file. PostgreSQL: nothing. */
  checkpoint(): Promise<void>;
  /** The size of the write-ahead log; undefined on PostgreSQL. */
  walBytes(): Promise<number | undefined>;
  /**
   * SQLite: rewrites the file and empties its log, so that no free page holds deleted data; other writers wait.
   * PostgreSQL: nothing.
   */
  compact(): Promise<void>;
  /** The free bytes on the store's disk; undefined on PostgreSQL. */
  freeBytes(): Promise<number | undefined>;
  /** Includes the write-ahead log. */
  sizeBytes(): Promise<number>;
  /** SQLite: records next to the file that it holds all writes until `at`, in ms since 1970. PostgreSQL: nothing. */
  noteSeen(at: number): void;
  /** Idempotent. */
  close(): Promise<void>;
}

/** The engine of a connection, for the few statements that differ. */
export function engineOf(db: Db): Engine {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}
