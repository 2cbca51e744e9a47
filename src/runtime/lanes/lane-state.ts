/** Reads the state of lanes without claiming them, and applies people's decisions on parked lanes. */
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { each } from '../../store/each.ts';
import { redactTexts } from '../../store/erasure/erasures.ts';
import type { StoreSchema } from '../../store/schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { Claim } from './settlement.ts';

/** Whether no claim holds a lane at `now`: it is unclaimed, or its lease has run out. */
export const isFree =
  (now: number) =>
  (eb: ExpressionBuilder<StoreSchema, 'lane'>): Expression<SqlBool> =>
    eb.or([eb('fence', 'is', null), eb('lease_until', '<=', now)]);

/** SQL: the number of claims that were never settled, for a new claim; a settlement resets it. */
export const UNENDED = sql<number>`case when fence is null then 0 else unended + 1 end`;

export interface Parked {
  readonly queue: string;
  readonly key: string;
  readonly attempts: number;
  readonly since: number;
  readonly error: string | null;
  readonly parkedAt: number;
}

/** `after`: the parked lane after which the list continues. */
export async function parked(
  db: Db,
  queue?: string,
  limit?: number,
  after?: Pick<Parked, 'queue' | 'key' | 'parkedAt'>,
): Promise<readonly Parked[]> {
  const rows = await db
    .selectFrom('lane')
    .select(['queue', 'key', 'attempts', 'since', 'error', 'parked_at as parkedAt'])
    .where('parked_at', 'is not', null)
    .$if(queue !== undefined, (query) => query.where('queue', '=', queue ?? ''))
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(queue, parked_at, key) > (${after?.queue ?? ''}, cast(${after?.parkedAt ?? 0} as bigint), ${after?.key ?? ''})`,
      ),
    )
    // In the order of the index, so that the database sorts nothing.
    .orderBy('queue')
    .orderBy('parked_at')
    .orderBy('key')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
  return rows.map((row) => ({ ...row, parkedAt: row.parkedAt ?? 0 }));
}

/** Makes a parked lane due at `now` and resets its failures; false if it is not parked. */
export async function unpark(tx: Tx, queue: string, key: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('lane')
    .set({ due_at: now, since: now, attempts: 0, error: null, parked_at: null })
    .where('queue', '=', queue)
    .where('key', '=', key)
    .where('parked_at', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Inserts a parked lane, as a question to a person; false if the lane exists, which stays unchanged. */
export async function park(
  tx: Tx,
  queue: string,
  key: string,
  { at, error }: { readonly at: number; readonly error: string },
): Promise<boolean> {
  const [redacted = null] = await redactTexts(tx, [error]);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('lane')
    .values({
      queue,
      key,
      due_at: null,
      fence: null,
      lease_until: null,
      again_at: null,
      marks: 1,
      attempts: 0,
      since: at,
      error: redacted,
      parked_at: at,
    })
    .onConflict((conflict) => conflict.columns(['queue', 'key']).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function drop(tx: Tx, queue: string, key: string): Promise<Parked | undefined> {
  const dropped = await tx
    .deleteFrom('lane')
    .where('queue', '=', queue)
    .where('key', '=', key)
    .where('parked_at', 'is not', null)
    .returning(['queue', 'key', 'attempts', 'since', 'error', 'parked_at as parkedAt'])
    .executeTakeFirst();
  return dropped && { ...dropped, parkedAt: dropped.parkedAt ?? 0 };
}

/** When the first lane that no claim holds at `now` is due; in the past if a claim may take it. */
export async function nextDue(
  db: Db,
  queue: string,
  now: number,
  except: readonly string[] = [],
): Promise<number | undefined> {
  const row = await db
    .selectFrom('lane')
    .select('due_at')
    .where('queue', '=', queue)
    .where('due_at', 'is not', null)
    .where(isFree(now))
    .$if(except.length > 0, (query) => query.where('key', 'not in', each(db, except)))
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
  return row?.due_at ?? undefined;
}

/** Whether a lane is due and no claim holds it at `now`. */
export async function isDue(db: Db, queue: string, key: string, now: number): Promise<boolean> {
  const row = await db
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', queue)
    .where('key', '=', key)
    .where('due_at', '<=', now)
    .where(isFree(now))
    .executeTakeFirst();
  return row !== undefined;
}

/** Which of these queues have a lane that no claim holds at `now` and that is due before `until`: one statement for all. */
export async function queuesDue(
  db: Db,
  queues: readonly string[],
  { now, until }: { readonly now: number; readonly until: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ value: string }>`select value from ${each(db, queues)} as queues
    where exists (select 1 from lane where queue = value and due_at <= cast(${until} as bigint)
      and (fence is null or lease_until <= cast(${now} as bigint)))`.execute(db);
  return rows.map(({ value }) => value);
}

export async function countDue(db: Db, queue: string, now: number, most: number): Promise<number> {
  const rows = await db
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', queue)
    .where('due_at', '<=', now)
    .where(isFree(now))
    .limit(most)
    .execute();
  return rows.length;
}

/** The keys that these claims of one queue still hold, without locking: check before you make a call. */
export async function owned(db: Db, claims: readonly Claim[]): Promise<ReadonlySet<string>> {
  const tokens = new Map(claims.map(({ key, fence }) => [key, fence]));
  const rows = await db
    .selectFrom('lane')
    .select(['key', 'fence'])
    .where('queue', '=', claims[0]?.queue ?? '')
    .where('key', 'in', each(db, [...tokens.keys()]))
    .execute();
  return new Set(rows.filter((row) => row.fence === tokens.get(row.key)).map((row) => row.key));
}
