/**
 * The mark of a store that was copied, and of a copy that is incomplete. No daemon or command uses a marked store:
 * otherwise two stores would continue one installation, or one would continue with half of it.
 */
import path from 'node:path';
import { lockUntilCommit } from '../advisory-lock.ts';
import { readValue, writeValue } from '../kv.ts';
import { type Db, isPostgresUrl, placeOf, type Store, type Tx } from '../store.ts';

/** Its key in `kv`, which is not copied. */
export const MARK = 'store:move';

/** The mark of the source. */
export interface SourceMark {
  readonly role: 'source';
  /** The id of the copy. */
  readonly id: string;
  /** Where the copy is, for people. */
  readonly place: string;
  /** In ms since 1970. */
  readonly begunAt: number;
  /** When the copy was complete, in ms since 1970; null before that. */
  readonly doneAt: number | null;
}

/** The mark of an incomplete copy. */
export interface TargetMark {
  readonly role: 'target';
  readonly id: string;
  /** Where the source is, for people. */
  readonly place: string;
  readonly begunAt: number;
  /** The position of the last copied row; null before the first. */
  readonly at: Position | null;
}

export interface Position {
  readonly table: string;
  readonly key: readonly (string | number | null)[];
}

type MoveMark = SourceMark | TargetMark;

export async function readMark(db: Db): Promise<MoveMark | undefined> {
  const text = await readValue(db, MARK);
  // Only this folder writes it.
  return text === undefined ? undefined : (JSON.parse(text) as MoveMark);
}

export const writeMark = (tx: Tx, mark: MoveMark, now: number): Promise<void> =>
  writeValue(tx, MARK, JSON.stringify(mark), now);

export async function removeMark(tx: Tx): Promise<void> {
  await tx.deleteFrom('kv').where('key', '=', MARK).execute();
}

/** A store's address for people, without user and password. */
export const shownPlace = (url: string): string =>
  isPostgresUrl(url) ? `postgres://${placeOf(url)}` : path.resolve(url);

/** The store was copied to another place, or is an incomplete copy. The message has the remedy. */
export class MovedStoreError extends Error {
  override readonly name = 'MovedStoreError';

  constructor(url: string, mark: MoveMark) {
    super(`the store ${shownPlace(url)} ${wordsOf(mark)}`);
  }
}

function wordsOf(mark: MoveMark): string {
  const since = new Date(mark.begunAt).toISOString();
  if (mark.role === 'target')
    return `is an incomplete copy of ${mark.place}: finish it with cvrsync store copy there, or delete it`;
  if (mark.doneAt === null)
    return (
      `is being copied to ${mark.place} since ${since}: finish that with cvrsync store copy, ` +
      'or abandon the copy and use this store again with cvrsync store reopen'
    );
  return (
    `was copied to ${mark.place}: name that one as \`store\` in the configuration. To use this one instead, and ` +
    'never the copy, run cvrsync store reopen'
  );
}

/** Throws if the store is marked. */
export async function refuseMoved(db: Db, url: string): Promise<void> {
  const mark = await readMark(db);
  if (mark !== undefined) throw new MovedStoreError(url, mark);
}

/**
 * A store for commands, which may run while a copy begins. Each write either ends before the mark is written, so that
 * the copy has it, or is refused. A daemon does not need this check: no copy begins while one runs.
 */
export const refusingMoved = (store: Store, url: string): Store => ({
  ...store,
  get holder() {
    return store.holder;
  },
  write: (work, options) =>
    store.write(async (tx) => {
      await lockUntilCommit(tx, 'move', 'shared');
      await refuseMoved(tx, url);
      return work(tx);
    }, options),
});
