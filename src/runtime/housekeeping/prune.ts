/** Deletes old rows in short steps: nothing else can be written while one runs, and on SQLite nothing else can run. */
import { setImmediate as breathe } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { StoreSchema } from '../../store/schema.ts';
import type { Store, Tx } from '../../store/store.ts';

/** Deletes rows older than `before`, until none is left or the signal aborts. */
export type Prune = (store: Store, signal: AbortSignal, before: number) => Promise<void>;

const STEP = 500;

/** A table whose ascending key follows the times of its rows. */
export interface AgingTable {
  readonly table: keyof StoreSchema;
  readonly key: 'seq' | 'id';
  /** The column of the time. */
  readonly at: string;
  /** Which of the old rows to delete; all by default. */
  readonly only?: RawBuilder<boolean>;
  /** A table whose rows are deleted with the row that their column names. */
  readonly parts?: { readonly table: keyof StoreSchema; readonly column: string };
  /** The most rows of a step. */
  readonly limit?: number;
}

/** One step of a walk: its last key, and whether any row was old enough. */
export interface Walked<K = number> {
  readonly last: K;
  readonly found: boolean;
}

/**
 * Steps without an old row that end a walk. Rows are in the order of their times, so one would do, but rows written
 * while the clock was ahead must not hide those that follow.
 */
const YOUNG_STEPS = 20;

/** Walks a table from the key after `start`, one transaction per step, until only young rows follow. */
export async function inSteps<K>(
  store: Store,
  signal: AbortSignal,
  start: K,
  step: (tx: Tx, after: K) => Promise<Walked<K> | undefined>,
): Promise<void> {
  let after = start;
  for (let young = 0; young < YOUNG_STEPS && !signal.aborted; ) {
    // A transaction may run again, from the end of the previous one.
    const from = after;
    const walked = await store.write((tx) => step(tx, from));
    if (walked === undefined) return;
    after = walked.last;
    young = walked.found ? 0 : young + 1;
    await breathe();
  }
}

/** Repeats a step, each in a new transaction, until it returns that nothing is left. */
export async function untilDone(store: Store, signal: AbortSignal, step: (tx: Tx) => Promise<boolean>): Promise<void> {
  // SQLite works on the main thread: let waiting requests go first.
  while (!signal.aborted && (await store.write(step))) await breathe();
}

/** A condition that selects the old rows among the next ones of a table, and the last of their keys. */
interface OldRows {
  readonly are: RawBuilder<boolean>;
  readonly last: number;
}

/** Reads the next rows of a table after a key; undefined at its end. */
export async function nextRows(
  tx: Tx,
  { table, key, at, limit = STEP }: AgingTable,
  after: number,
  before: number,
): Promise<(Walked & { readonly old: OldRows | undefined }) | undefined> {
  const [id, time] = [sql.ref(key), sql.ref(at)];
  const { rows } = await sql<{ id: number; at: number }>`select ${id} as id, ${time} as at from ${sql.table(table)}
    where ${id} > ${after} order by ${id} limit ${limit}`.execute(tx);
  const last = rows.at(-1)?.id;
  if (last === undefined) return undefined;
  const lastOld = rows.findLast((row) => row.at < before)?.id;
  if (lastOld === undefined) return { last, found: false, old: undefined };
  const are = sql<boolean>`${id} > ${after} and ${id} <= ${lastOld} and ${time} < ${before}`;
  return { last, found: true, old: { are, last: lastOld } };
}

export const pruneOlder =
  (aging: AgingTable): Prune =>
  (store, signal, before) =>
    inSteps(store, signal, 0, async (tx, after) => {
      const page = await nextRows(tx, aging, after, before);
      if (page?.old === undefined) return page;
      const { table, key, only = sql`true`, parts } = aging;
      const { are } = page.old;
      if (parts !== undefined)
        await sql`delete from ${sql.table(parts.table)} where ${sql.ref(parts.column)} in
          (select ${sql.ref(key)} from ${sql.table(table)} where ${are})`.execute(tx);
      await sql`delete from ${sql.table(table)} where ${are} and ${only}`.execute(tx);
      return page;
    });

/** Prunes by a function that deletes up to a number of rows and returns whether more may be left. */
export const pruneBy =
  (step: (tx: Tx, before: number, most: number) => Promise<boolean>): Prune =>
  (store, signal, before) =>
    untilDone(store, signal, (tx) => step(tx, before, STEP));
