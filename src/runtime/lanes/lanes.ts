/**
 * Lanes: keys that may be behind, and the right to work on them. A row exists exactly while its lane is behind. `due_at` says
 * when it may be claimed, `lease_until` until when a claim holds it. A claim whose lease ran out holds an outdated
 * fencing token and can settle nothing. All times are ms since 1970. Claims and renewals change no indexed column, so
 * PostgreSQL updates the row in place.
 */
import { sql } from 'kysely';
import { each } from '../../store/each.ts';
import { redactTexts } from '../../store/erasure/erasures.ts';
import { engineOf, type Store, type Tx } from '../../store/store.ts';
import { type Claim, type Next, type Settlement, settled } from './settlement.ts';

export { claim, type Prepare } from './claim.ts';
export { counts } from './count-lanes.ts';
export { park } from './lane-state.ts';
export type { Claim, Settlement } from './settlement.ts';

/** Rows of six parameters in one statement: far below both engines' limits (32,766 and 65,535). */
const CHUNK = 1_000;

/**
 * Marks lanes as behind from `dueAt` on. A lane in back-off keeps its time, a parked one is unparked, a claimed one
 * runs again afterwards. Locks the rows in the order of their keys until the transaction ends. Mark before you insert
 * what the lane must find: otherwise a worker may take the second of two events before the first is committed.
 */
export async function mark(tx: Tx, queue: string, keys: readonly string[], dueAt: number): Promise<void> {
  if (keys.length === 0) return;
  const list = each(tx, [...new Set(keys)].sort());
  const due = sql`cast(${dueAt} as bigint)`;
  await tx
    .insertInto('lane')
    .columns(['queue', 'key', 'due_at', 'marks', 'attempts', 'since'])
    // `where true` keeps SQLite from reading ON CONFLICT as the ON of a join.
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
 * Moves existing lanes that wait with this error forward to `dueAt`; creates none. A lane in back-off keeps its time, a
 * parked one stays parked. On PostgreSQL it skips locked rows, because the holder of a lane decides when it is due next.
 */
export async function wake(
  tx: Tx,
  queues: readonly string[],
  keys: readonly string[],
  { dueAt, because }: { readonly dueAt: number; readonly because: string },
): Promise<void> {
  // One statement per queue, and `+due_at` to keep the index of due times out: an engine would read all waiting lanes
  // through it. PostgreSQL does so if its statistics are old.
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

/** Locks the lanes that these claims still hold, until the transaction ends, and returns their keys. */
export async function held(tx: Tx, claims: readonly Claim[]): Promise<ReadonlySet<string>> {
  return new Set((await lock(tx, claims)).map(({ claim }) => claim.key));
}

/** Settles one claim; false, without any effect, if its lease was lost. */
export async function settle(tx: Tx, claim: Claim, settlement: Settlement): Promise<boolean> {
  return (await settleAll(tx, [[claim, settlement]])).has(claim.key);
}

/**
 * Settles claims of one queue in a few statements and returns the keys that were still held; ignores the others. Call
 * it in the transaction that holds the effects of the work.
 */
export async function settleAll(
  tx: Tx,
  settlements: readonly (readonly [Claim, Settlement])[],
): Promise<ReadonlySet<string>> {
  const wanted = new Map(settlements.map(([claim, settlement]) => [claim.key, settlement]));
  // A separate lock first: it waits for uncommitted marks, and the next statement sees them.
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

/** Extends the leases to `until` and returns the keys that are still held. */
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
  // The casts in the first row give PostgreSQL the types of the list.
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
