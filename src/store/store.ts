/** What every engine of the store offers. */
import { randomInt } from 'node:crypto';
import { type Kysely, PostgresAdapter, type Transaction } from 'kysely';
import type { StoreSchema } from './schema.ts';

export type Db = Kysely<StoreSchema>;
export type Tx = Transaction<StoreSchema>;
export type Engine = 'sqlite' | 'postgres';

/** Whether the configured store is a PostgreSQL URL; any other text is the path of a SQLite file. */
export const isPostgresUrl = (store: string): boolean => /^postgres(ql)?:\/\//.test(store);

/** Daemons are holders from this number on, commands below it. */
export const FIRST_DAEMON = 2 ** 27;

/** A holder of its own for an opening of the store; one of a daemon is a positive 32-bit integer, too. */
export const newHolder = (isDaemon: boolean): number => (isDaemon ? FIRST_DAEMON : 0) + randomInt(1, FIRST_DAEMON);

export interface CommitOptions {
  /**
   * The write means nothing once the machine has started again, such as a claim or a call's slot: a power cut may undo it, as
   * long as no other write came after it. It outlives the process. SQLite does not wait for the disk then.
   */
  readonly ephemeral?: true;
}

/** The daemon's one durable memory. What `write` resolved for is on disk. */
export interface Store {
  /** For reads. On SQLite a connection of its own that refuses writes, so a read inside `write` cannot block on it. */
  readonly db: Db;
  readonly engine: Engine;
  /**
   * Runs `work` in one transaction and resolves once it is durable. Where the engine reports a lock or a deadlock the
   * whole of `work` runs again, so it must touch nothing but `tx`. Never nest it: SQLite has one writer.
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: CommitOptions): Promise<T>;
  /** PostgreSQL: throws, and says what to do, where the database or the way to it cannot hold a store. */
  check(): Promise<void>;
  /** Throws if the store cannot be reached. */
  ping(): Promise<void>;
  /** Copies one consistent state into a new file while others write. Throws if the file exists or the engine cannot. */
  backup(file: string): Promise<void>;
  /**
   * Makes this opening of the store a daemon's, until the process ends. On SQLite it is the only one: throws if another
   * one runs. Call it again from time to time: on PostgreSQL the connection that proves the daemon alive may break.
   */
  claimDaemon(): Promise<void>;
  /** Names this opening of the store among those who claim work; {@link FIRST_DAEMON} or above once it is a daemon's. */
  readonly holder: number;
  /** The holders that are daemons and alive, this one among them if it is. */
  livingDaemons(): Promise<readonly number[]>;
  /** SQLite: moves what no reader still needs of the write-ahead log into the file. PostgreSQL: nothing. */
  checkpoint(): Promise<void>;
  /** Size of the write-ahead log; undefined if the log is not ours to measure. */
  walBytes(): Promise<number | undefined>;
  /** SQLite: rewrites the file and empties its log, so that no free page holds what was deleted; others wait. PostgreSQL: nothing. */
  compact(): Promise<void>;
  /** Disk left for the store's file, in bytes; undefined if the disk is not ours to measure. */
  freeBytes(): Promise<number | undefined>;
  /** Bytes that the store takes, with its write-ahead log. */
  sizeBytes(): Promise<number>;
  /** SQLite: notes beside the file that it holds what was written until `at`, in ms since 1970. PostgreSQL: nothing. */
  noteSeen(at: number): void;
  /** Idempotent. */
  close(): Promise<void>;
}

/** The engine behind a connection, for the few statements that differ. */
export function engineOf(db: Db): Engine {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}
