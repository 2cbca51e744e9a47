/**
 * Lanes: what may be behind, and the right to work on it. A row exists exactly while its lane is behind.
 *
 * `due_at` is when the lane may be claimed, `lease_until` until when a claim holds it. The fence fences: who claimed before
 * a lease ran out holds another number, and settles nothing. All times are ms since 1970. A claim and the renewal of its
 * lease change no column of an index: PostgreSQL then updates a row in place.
 */
import { sql } from 'kysely';
import { each } from '../../store/each.ts';
import { redactTexts } from '../../store/erasure/erasures.ts';
import { engineOf, type Store, type Tx } from '../../store/store.ts';
import { newFence } from './fence.ts';
import { isFree, UNENDED } from './lane-state.ts';
import { type Claim, type Next, type Settlement, settled } from './settlement.ts';

export { counts } from './count-lanes.ts';
export { park } from './lane-state.ts';
export type { Claim, Settlement } from './settlement.ts';

/** Rows of six parameters each in one statement: far under both engines' limits (32,766 and 65,535). */
const CHUNK = 1_000;

/**
 * Says that lanes may be behind, from `dueAt` on.
 *
 * A lane in back-off keeps its time, a parked one is un-parked, a claimed one runs again afterwards. Locks the rows until
 * the transaction ends, in the order of the keys: mark before you insert what the lane is to find, or a worker may take
 * the second of two events before the first is committed.
 */
export async function mark(tx: Tx, queue: string, keys: readonly string[], dueAt: number): Promise<void> {
  const list = each(tx, [...new Set(keys)].sort());
  const due = sql`cast(${dueAt} as bigint)`;
  await tx
    .insertInto('lane')
    .columns(['queue', 'key', 'due_at', 'marks', 'attempts', 'since'])
    // `where true` tells SQLite that ON CONFLICT below is not a join's ON.
    .expression(sql`select cast(${queue} as text), value, ${due}, 1, 0, ${due} from ${list} as list where true`)
    .onConflict((conflict) =>
      conflict.columns(['queue', 'key']).doUpdateSet({
        marks: sql`lane.marks + 1`,
        again_at: sql`case when lane.fence is null then null
          when lane.again_at < excluded.due_at then lane.again_at else excluded.due_at end`,
        due_at: sql`case when lane.parked_at is not null then excluded.due_at
          when lane.fence is not null or lane.attempts > 0 or lane.due_at < excluded.due_at then lane.due_at
          else excluded.due_at end`,
        attempts: sql`case when lane.parked_at is null then lane.attempts else 0 end`,
        since: sql`case when lane.parked_at is null then lane.since else excluded.since end`,
        error: sql`case when lane.parked_at is null then lane.error end`,
        parked_at: null,
      }),
    )
    .execute();
}

/**
 * Has lanes that are there looked at from `dueAt` on, where they wait for a later time with an error that begins so; makes
 * none. A lane in back-off keeps its time, and a parked one stays parked. On PostgreSQL it waits for nobody, whatever its
 * transaction holds: whoever holds a lane at this moment says when it is looked at next.
 */
export async function wake(
  tx: Tx,
  queues: readonly string[],
  keys: readonly string[],
  { dueAt, because }: { readonly dueAt: number; readonly because: string },
): Promise<void> {
  // One statement a queue, and a sign that keeps the index of due times out of it: with many lanes that wait, an engine
  // would read all of them. PostgreSQL does so where it has not counted the table of late.
  for (const queue of queues) {
    const waiting = await tx
      .selectFrom('lane')
      .select('key')
      .where('queue', '=', queue)
      .where('key', 'in', each(tx, keys))
      .where(sql<number>`+due_at`, '>', dueAt)
      .where('parked_at', 'is', null)
      .where('error', 'like', `${because}%`)
      .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate().skipLocked())
      .execute();
    const found = waiting.map(({ key }) => key);
    if (found.length > 0) await mark(tx, queue, found, dueAt);
  }
}

/**
 * Runs first in the transaction of a claim: lanes that it marks as due `now` can be claimed at once. What it resolves with is
 * called once that is committed. Like every transaction's work it may run again.
 */
export type Prepare = (tx: Tx, now: number) => Promise<() => void>;

/**
 * Takes up to `limit` lanes that are due, oldest first, and holds them for `leaseMs`. Lanes another claimer is taking at
 * this moment are passed over; a lane whose lease has run out is due again.
 */
export async function claim(
  store: Store,
  queue: string,
  options: {
    readonly limit: number;
    readonly now: number;
    readonly leaseMs: number;
    readonly keys?: readonly string[];
    /** Left to other processes. */
    readonly except?: readonly string[];
    /** See {@link Prepare}. */
    readonly prepare?: Prepare | undefined;
  },
): Promise<readonly Claim[]> {
  const { limit, now, leaseMs, keys, except = [], prepare } = options;
  if (limit < 1 || keys?.length === 0) return [];
  const fence = newFence(store);
  const take = async (tx: Tx) => {
    const committed = await prepare?.(tx, now);
    const rows = await tx
      // PostgreSQL runs a CTE that locks rows exactly once; as a subquery the limit could be exceeded.
      .with('taken', (cte) =>
        cte
          .selectFrom('lane')
          .select('key')
          .where('queue', '=', queue)
          .where('due_at', '<=', now)
          .where(isFree(now))
          .$if(keys !== undefined, (query) => query.where('key', 'in', each(tx, keys ?? [])))
          .$if(except.length > 0, (query) => query.where('key', 'not in', each(tx, except)))
          .orderBy('due_at')
          .orderBy('key')
          .limit(limit)
          .$if(store.engine === 'postgres', (query) => query.forUpdate().skipLocked()),
      )
      .updateTable('lane')
      .set({ fence, lease_until: now + leaseMs, again_at: null, unended: UNENDED })
      .where('queue', '=', queue)
      .where('key', 'in', (query) => query.selectFrom('taken').select('taken.key'))
      .returning(['queue', 'key', 'marks', 'attempts', 'since', 'unended'])
      .execute();
    return { rows, committed };
  };
  // Nothing has come of a claim before a write that says so; an undone one is due again, with all that was prepared.
  const { rows, committed } = await store.write(take, { ephemeral: true });
  committed?.();
  return rows.map((row) => ({ ...row, fence })).sort((a, b) => a.since - b.since || (a.key < b.key ? -1 : 1));
}

/** Locks the lanes that are still held by exactly these claims, until the transaction ends, and returns their keys. */
export async function held(tx: Tx, claims: readonly Claim[]): Promise<ReadonlySet<string>> {
  return new Set((await lock(tx, claims)).map(({ claim }) => claim.key));
}

/** Settles one claim. False, and without any effect, where the lease was lost. */
export async function settle(tx: Tx, claim: Claim, settlement: Settlement): Promise<boolean> {
  return (await settleAll(tx, [[claim, settlement]])).has(claim.key);
}

/**
 * Settles claims of one queue in a few statements, and returns the keys that were still held; the others are untouched.
 * Call it in the transaction that holds the effects of the work.
 */
export async function settleAll(
  tx: Tx,
  settlements: readonly (readonly [Claim, Settlement])[],
): Promise<ReadonlySet<string>> {
  const wanted = new Map(settlements.map(([claim, settlement]) => [claim.key, settlement]));
  // The lock comes first and in a statement of its own: a mark that was not yet committed is waited for and then seen.
  const locked = await lock(
    tx,
    settlements.map(([claim]) => claim),
  );
  const ended: string[] = [];
  const going: Next[] = [];
  for (const { claim, marks, again_at } of locked) {
    const settlement = wanted.get(claim.key);
    if (settlement === undefined) continue;
    const next = settled(claim, settlement, marks === claim.marks ? undefined : (again_at ?? 0));
    if (next === undefined) ended.push(claim.key);
    else going.push(next);
  }
  const queue = settlements[0]?.[0].queue ?? '';
  if (ended.length > 0) {
    await tx.deleteFrom('lane').where('queue', '=', queue).where('key', 'in', each(tx, ended)).execute();
  }
  for (const rows of chunks(going)) await write(tx, queue, rows);
  return new Set(locked.map(({ claim }) => claim.key));
}

/** Moves the end of the leases to `until`, and returns the keys that are still held. */
export async function renew(store: Store, claims: readonly Claim[], until: number): Promise<ReadonlySet<string>> {
  return store.write(async (tx) => {
    const keys = await held(tx, claims);
    await tx
      .updateTable('lane')
      .set({ lease_until: until })
      .where('queue', '=', claims[0]?.queue ?? '')
      .where('key', 'in', each(tx, [...keys]))
      .execute();
    return keys;
  });
}

interface Locked {
  readonly claim: Claim;
  readonly marks: number;
  readonly again_at: number | null;
}

/** Every caller locks in the order of the keys, so that no two wait for each other. */
async function lock(tx: Tx, claims: readonly Claim[]): Promise<readonly Locked[]> {
  const byKey = new Map(claims.map((claim) => [claim.key, claim]));
  const rows = await tx
    .selectFrom('lane')
    .select(['key', 'fence', 'marks', 'again_at'])
    .where('queue', '=', claims[0]?.queue ?? '')
    .where('key', 'in', each(tx, [...byKey.keys()]))
    .orderBy('key')
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .execute();
  return rows.flatMap(({ key, fence, ...row }) => {
    const claim = byKey.get(key);
    return claim !== undefined && claim.fence === fence ? [{ claim, ...row }] : [];
  });
}

async function write(tx: Tx, queue: string, rows: readonly Next[]): Promise<void> {
  const errors = await redactTexts(
    tx,
    rows.map(({ error }) => error),
  );
  // The casts of the first row type the whole list for PostgreSQL.
  const values = rows.map(
    (
      row,
      at,
    ) => sql`(${row.key}, cast(${row.due} as bigint), cast(${row.attempts} as bigint), cast(${row.since} as bigint),
      cast(${errors[at] ?? null} as text), cast(${row.parked} as bigint))`,
  );
  await sql`with next (key, due_at, attempts, since, error, parked_at) as (values ${sql.join(values)})
    update lane set fence = null, lease_until = null, again_at = null, unended = 0, due_at = next.due_at, attempts = next.attempts, since = next.since,
      error = next.error, parked_at = next.parked_at
    from next where lane.queue = ${queue} and lane.key = next.key`.execute(tx);
}

function* chunks<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += CHUNK) yield all.slice(start, start + CHUNK);
}
