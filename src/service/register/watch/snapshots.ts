import { sql } from 'kysely';
import { each } from '../../../store/each.ts';
import { type InsertTarget, insertRows } from '../../../store/insert-rows.ts';
import { type Db, engineOf, type Tx } from '../../../store/store.ts';
import type { Origin } from '../source/source.ts';
import { readOrigins } from './origins/origins.ts';
import { readSeconds, type SecondReading } from './origins/second-readings.ts';

export interface KnownSnapshot {
  readonly entity: string;
  readonly body: string;
  readonly digest: string;
  readonly loadedAt: string;
  readonly ahead: string | null;
  readonly aheadAt: number | null;
  readonly updatedAt: number;
  readonly origins: string;
  readonly seconds: readonly SecondReading[];
}

export interface SnapshotRow {
  readonly [column: string]: string | number | null;
  readonly entity: string;
  readonly body: string;
  readonly origins: string;
  readonly digest: string;
  readonly loaded_at: string;
  readonly ahead: string | null;
  readonly ahead_at: number | null;
  /** 1 while the safety limit withholds parts of it. */
  readonly withheld: 0 | 1;
}

/** This many rows are some hundred kilobytes of JSON, and take a few milliseconds. */
const CHUNK = 50;

export async function readKnown(db: Db, entities: readonly string[]): Promise<ReadonlyMap<string, KnownSnapshot>> {
  const rows = await db
    .selectFrom('snapshot')
    .select(['entity', 'body', 'origins', 'digest', 'ahead'])
    .select(['loaded_at as loadedAt', 'ahead_at as aheadAt', 'updated_at as updatedAt'])
    .where('entity', 'in', each(db, entities))
    .execute();
  const seconds = await readSeconds(db, entities);
  return new Map(rows.map((row) => [row.entity, { ...row, seconds: seconds.get(row.entity) ?? [] }]));
}

export async function readNames(db: Db, entities: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (entities.length === 0) return new Map();
  const name =
    engineOf(db) === 'postgres' ? sql<string>`cast(body as jsonb) ->> 'name'` : sql<string>`body ->> '$.name'`;
  const rows = await db
    .selectFrom('snapshot')
    .select(['entity', name.as('name')])
    .where('entity', 'in', each(db, entities))
    .where(name, 'is not', null)
    .execute();
  return new Map(rows.map((row) => [row.entity, row.name]));
}

/** Whether all of these are as they were read; locks them until the transaction ends. */
export async function areUntouched(
  tx: Tx,
  entities: readonly string[],
  known: ReadonlyMap<string, KnownSnapshot>,
): Promise<boolean> {
  const rows = await tx
    .selectFrom('snapshot')
    .select(['entity', 'digest', 'updated_at'])
    .where('entity', 'in', each(tx, entities))
    .orderBy('entity')
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .execute();
  const before = entities.filter((entity) => known.has(entity)).length;
  return (
    rows.length === before &&
    rows.every(({ entity, digest, updated_at }) => {
      const was = known.get(entity);
      return was?.digest === digest && was.updatedAt === updated_at;
    })
  );
}

const SNAPSHOTS: InsertTarget = {
  table: 'snapshot',
  columns: ['entity', 'body', 'origins', 'digest', 'loaded_at', 'ahead', 'ahead_at', 'withheld', 'updated_at'],
  rest: `on conflict (entity) do update set ${[
    'body',
    'origins',
    'digest',
    'loaded_at',
    'ahead',
    'ahead_at',
    'withheld',
    'updated_at',
  ]
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}`,
};

/** Replaces snapshots in chunks, and yields the thread in between. */
export async function storeRows(
  tx: Tx,
  rows: readonly SnapshotRow[],
  now: number,
  breathe: () => Promise<void>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += CHUNK) {
    const chunk = rows.slice(start, start + CHUNK);
    await insertRows(
      tx,
      SNAPSHOTS,
      // Bodies are JSON, which escapes what PostgreSQL does not accept: see `storable`.
      chunk.map((row) => [
        ...[row.entity, row.body, row.origins, row.digest, row.loaded_at],
        ...[row.ahead, row.ahead_at, row.withheld, now],
      ]),
    );
    await breathe();
  }
}

export interface AheadDocument {
  readonly entity: string;
  readonly origin: Origin;
  readonly ahead: string | null;
  readonly digest: string;
  readonly ahead_at: number | null;
}

/** Documents to reread because a date in them has come, the earliest first. */
export async function readAhead(db: Db, now: number, limit: number): Promise<readonly AheadDocument[]> {
  const led = await db
    .selectFrom('snapshot')
    .select(['entity', 'origins as origin', 'ahead', 'digest', 'ahead_at'])
    .where('ahead_at', '<=', now)
    .orderBy('ahead_at')
    .orderBy('entity')
    .limit(limit)
    .execute();
  const others = await db
    .selectFrom('second_reading')
    .select(['entity', 'origin', 'ahead', 'digest', 'ahead_at'])
    .where('ahead_at', '<=', now)
    .orderBy('ahead_at')
    .orderBy('entity')
    .limit(limit)
    .execute();
  return [...led, ...others]
    .map((row) => ({ ...row, origin: readOrigins(row.origin)[0] ?? 'cvr' }))
    .sort((a, b) => (a.ahead_at ?? 0) - (b.ahead_at ?? 0))
    .slice(0, limit);
}

/** Clears the dates of reread documents, unless a newer document has set a later one. */
export async function clearAhead(
  tx: Tx,
  { origin, entities }: { readonly origin: Origin; readonly entities: readonly string[] },
  now: number,
): Promise<void> {
  const clear = { ahead: null, ahead_at: null };
  await tx
    .updateTable('snapshot')
    .set(clear)
    .where('entity', 'in', each(tx, entities))
    .where('origins', 'like', `${origin}%`)
    .where('ahead_at', '<=', now)
    .execute();
  await tx
    .updateTable('second_reading')
    .set(clear)
    .where('entity', 'in', each(tx, entities))
    .where('origin', '=', origin)
    .where('ahead_at', '<=', now)
    .execute();
}

export async function nextAhead(db: Db): Promise<number | undefined> {
  const next = (table: 'snapshot' | 'second_reading') =>
    db
      .selectFrom(table)
      .select('ahead_at')
      .where('ahead_at', 'is not', null)
      .orderBy('ahead_at')
      .limit(1)
      .executeTakeFirst();
  const times = [await next('snapshot'), await next('second_reading')].flatMap((row) => row?.ahead_at ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
