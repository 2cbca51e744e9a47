/** Counts the new rows of a table into the activity, each row exactly once, after the work that writes them. */
import { setImmediate as breathe } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { readValue, writeValue } from '../../store/kv.ts';
import type { ActivityKind } from '../../store/runtime-schema.ts';
import type { StoreSchema } from '../../store/schema.ts';
import type { Store, Tx } from '../../store/store.ts';
import { addActivity, HOUR_MS } from './activity.ts';

/** A table whose keys rise with its times, and what each row counts as. */
export interface CountedTable {
  readonly table: keyof StoreSchema;
  readonly key: 'seq' | 'id';
  readonly at: string;
  /** The text of an `ActivityKind`; null for a row that does not count. */
  readonly kind: RawBuilder<string | null>;
  readonly subject: RawBuilder<string>;
  /** How much a row counts, by engine. */
  readonly count: (tx: Tx) => RawBuilder<number>;
}

/** This many rows take some milliseconds. */
const STEP = 2_000;

/**
 * A transaction that began before another may commit after it, with the lower key. It commits within its lease, though:
 * rows older than twice that are complete.
 */
const SETTLED_MS = 60_000;

/** Counts all complete rows page by page, from the last position on. */
export async function countNewRows(store: Store, table: CountedTable, now: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await store.write((tx) => countPage(tx, table, now)))) await breathe();
}

/** Counts a page; false if no complete row is left. The position is stored with the counts. */
async function countPage(tx: Tx, counted: CountedTable, now: number): Promise<boolean> {
  const name = `activity:${counted.table}`;
  const after = Number((await readValue(tx, name)) ?? 0);
  const { table, kind, subject } = counted;
  const [key, at] = [sql.ref(counted.key), sql.ref(counted.at)];
  const { rows: page } = await sql<{
    key: number;
    at: number;
  }>`select ${key} as key, ${at} as at from ${sql.table(table)}
    where ${key} > ${after} order by ${key} limit ${STEP}`.execute(tx);
  // A row dated ahead must not hide those that follow.
  const young = page.findIndex((row) => row.at > now - SETTLED_MS && row.at <= now);
  const last = page[young === -1 ? page.length - 1 : young - 1]?.key;
  if (last === undefined) return false;
  const { rows } = await sql<{ hour: number; kind: ActivityKind; subject: string; count: number }>`
    select hour, kind, subject, cast(sum(count) as bigint) as count from (
      select ${at} - ${at} % ${sql.lit(HOUR_MS)} as hour, ${kind} as kind, ${subject} as subject, ${counted.count(tx)} as count
      from ${sql.table(table)} where ${key} > ${after} and ${key} <= ${last}) as page
    where kind is not null group by hour, kind, subject`.execute(tx);
  await addActivity(
    tx,
    rows.map(({ hour, ...row }) => ({ ...row, at: hour })),
    'add',
  );
  await writeValue(tx, name, String(last), now);
  return young === -1 && page.length === STEP;
}
