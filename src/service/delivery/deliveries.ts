/** What people ask about deliveries and decide on them: list, count, replay, drop. */
import type { SelectQueryBuilder } from 'kysely';
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { keptFrom, RETENTION } from '../../runtime/retention.ts';
import type { StoreSchema } from '../../store/schema.ts';
import type { DeliveryTable } from '../../store/service-schema.ts';
import type { Db, Store, Tx } from '../../store/store.ts';

export type DeliveryState = DeliveryTable['state'];

/** Which deliveries; what is absent does not restrict. */
export interface DeliveryFilter {
  /** Id of a monitor. */
  readonly monitor?: string;
  readonly state?: DeliveryState;
  /** Canonical entity id. */
  readonly entity?: string;
  /** One delivery, by its number. */
  readonly seq?: number;
  /** Only those with a lower number, and with this or a higher one. */
  readonly before?: number;
  readonly from?: number;
  /** Made at or after, and before: ms since 1970. */
  readonly since?: number;
  readonly until?: number;
  /** Not ended yet, or before this time. */
  readonly endedBefore?: number;
  /** At most so many: 100 in a list, 10,000 to replay or drop. */
  readonly limit?: number;
}

/** One change told, or to be told, to one monitor. */
export interface Delivery {
  readonly seq: number;
  readonly monitor: string;
  readonly entity: string;
  /** The entity's name at the time. */
  readonly name: string;
  readonly events: readonly string[];
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When it is tried next; null where it is not due. */
  readonly nextAt: number | null;
  /** Of the last answer. */
  readonly status: number | null;
  readonly error: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** One failed attempt. */
export interface Attempt {
  readonly at: number;
  /** Ms. */
  readonly took: number;
  readonly number: number;
  readonly status: number | null;
  readonly fault: string | null;
  readonly answer: string | null;
}

const LISTED = 100;
/** The most that one call replays or drops: longer transactions would keep webhooks and requests waiting. */
export const REPLAY_LIMIT = 10_000;
const DAY_MS = 86_400_000;
const HELD_DAYS = 14;
const STEP = 500;

/** What a replay takes where no state is asked for. */
const REPLAYED: readonly DeliveryState[] = ['held', 'failed'];
const DROPPED: readonly DeliveryState[] = ['due', 'held', 'failed'];

type Query<O> = SelectQueryBuilder<StoreSchema, 'delivery', O>;

const filtered = <O>(query: Query<O>, filter: DeliveryFilter): Query<O> => {
  const { monitor, state, entity, seq, before, from, since, until, endedBefore } = filter;
  let found = query;
  if (monitor !== undefined) found = found.where('delivery.monitor', '=', monitor);
  if (state !== undefined) found = found.where('delivery.state', '=', state);
  // An index leads from the entity to its changes, and from those to their deliveries.
  if (entity !== undefined)
    found = found
      .where('delivery.entity', '=', entity)
      .where('delivery.change', 'in', (query) =>
        query.selectFrom('change').select('change.seq').where('change.entity', '=', entity),
      );
  if (seq !== undefined) found = found.where('delivery.seq', '=', seq);
  if (before !== undefined) found = found.where('delivery.seq', '<', before);
  if (from !== undefined) found = found.where('delivery.seq', '>=', from);
  if (since !== undefined) found = found.where('delivery.created_at', '>=', since);
  if (until !== undefined) found = found.where('delivery.created_at', '<', until);
  if (endedBefore !== undefined)
    found = found.where((row) =>
      row.or([row('delivery.ended_at', 'is', null), row('delivery.ended_at', '<', endedBefore)]),
    );
  return found;
};

/** Deliveries, newest first. */
export async function listDeliveries(db: Db, filter: DeliveryFilter = {}): Promise<readonly Delivery[]> {
  const columns = ['seq', 'monitor', 'entity', 'events', 'state', 'attempts', 'status', 'error'] as const;
  const rows = await filtered(db.selectFrom('delivery'), filter)
    .select(columns.map((column) => `delivery.${column}` as const))
    .select(['delivery.next_at as nextAt', 'delivery.created_at as createdAt', 'delivery.ended_at as endedAt'])
    .select((query) =>
      query.selectFrom('change').select('change.name').whereRef('change.seq', '=', 'delivery.change').as('name'),
    )
    .orderBy('delivery.seq', 'desc')
    .limit(filter.limit ?? LISTED)
    .execute();
  return rows.map(({ events, nextAt, ...row }) => {
    const names: readonly string[] = JSON.parse(events);
    return { ...row, name: row.name ?? '', events: names, nextAt: row.state === 'due' ? nextAt : null };
  });
}

/** How many deliveries there are, whatever the filter's limit. */
export async function countDeliveries(db: Db, filter: DeliveryFilter = {}): Promise<number> {
  const row = await filtered(db.selectFrom('delivery'), filter)
    .select(sql<number>`count(*)`.as('found'))
    .executeTakeFirstOrThrow();
  return row.found;
}

/** How many deliveries a replay would make due again, counted up to one more than it takes at once. */
export async function countReplayable(db: Db, filter: DeliveryFilter): Promise<number> {
  const chosen = chosenFor(db, filter, { from: REPLAYED, onlyEnabled: true }).limit(REPLAY_LIMIT + 1);
  const row = await db
    .selectFrom(chosen.select('delivery.seq').as('chosen'))
    .select(sql<number>`count(*)`.as('found'))
    .executeTakeFirstOrThrow();
  return row.found;
}

/** The failed attempts of a delivery, oldest first. */
export function attemptsOf(db: Db, delivery: number): Promise<readonly Attempt[]> {
  return db
    .selectFrom('attempt')
    .select(['at', 'took', 'number', 'status', 'fault', 'answer'])
    .where('delivery', '=', delivery)
    .orderBy('id')
    .execute();
}

/**
 * Makes deliveries due again, oldest first, and returns how many: held and failed ones, or those of the state asked
 * for. Each keeps its `webhook-id` and begins its schedule anew. Those of monitors that are off stay as they are: switch
 * the monitor on first. Ring `deliver` after the commit.
 */
export async function replayDeliveries(tx: Tx, filter: DeliveryFilter, now: number): Promise<number> {
  const set = { state: 'due', next_at: now, ended_at: null } as const;
  return change(tx, filter, now, { from: REPLAYED, onlyEnabled: true, set });
}

/**
 * Makes all held deliveries of a monitor due, however many, and returns how many. In the transaction that enables the
 * monitor nothing comes between them: a later change is published behind them.
 */
export async function replayHeld(tx: Tx, monitor: string, now: number): Promise<number> {
  let replayed = 0;
  for (;;) {
    const count = await replayDeliveries(tx, { monitor, state: 'held' }, now);
    replayed += count;
    if (count < REPLAY_LIMIT) return replayed;
  }
}

/** Gives deliveries up, and returns how many: due, held and failed ones, or those of the state asked for. */
export async function dropDeliveries(tx: Tx, filter: DeliveryFilter, now: number): Promise<number> {
  return change(tx, filter, now, { from: DROPPED, onlyEnabled: false, set: { state: 'dropped', ended_at: now } });
}

interface Transition {
  /** The states that it changes where the filter asks for none. */
  readonly from: readonly DeliveryState[];
  /** Leaves out deliveries of monitors that are off or have no webhook. */
  readonly onlyEnabled: boolean;
  readonly set: Partial<Pick<DeliveryTable, 'state' | 'next_at' | 'ended_at'>>;
}

/** The deliveries that a transition changes. */
const chosenFor = (db: Db, filter: DeliveryFilter, { from, onlyEnabled }: Omit<Transition, 'set'>) =>
  filtered(db.selectFrom('delivery'), filter)
    .$if(filter.state === undefined, (query) => query.where('delivery.state', 'in', from))
    .$if(onlyEnabled, (query) =>
      query
        .where('delivery.state', '!=', 'due')
        .where('delivery.monitor', 'in', (inner) =>
          inner.selectFrom('monitor').select('id').where('enabled', '=', 1).where('url', 'is not', null),
        ),
    );

async function change(
  tx: Tx,
  filter: DeliveryFilter,
  now: number,
  { from, onlyEnabled, set }: Transition,
): Promise<number> {
  const limit = Math.min(filter.limit ?? REPLAY_LIMIT, REPLAY_LIMIT);
  const chosen = chosenFor(tx, filter, { from, onlyEnabled }).orderBy('delivery.seq').limit(limit);
  const rows = await chosen.select(['delivery.seq', 'delivery.monitor']).execute();
  const last = rows.at(-1)?.seq;
  if (last === undefined) return 0;
  // The lanes first, as whoever makes deliveries does. A dropped one may have kept a later one of its entity waiting.
  await mark(
    tx,
    'deliver',
    rows.map((row) => row.monitor),
    now,
  );
  const { numUpdatedRows } = await tx
    .updateTable('delivery')
    .set(set)
    .$if(onlyEnabled, (query) => query.set((row) => ({ replayed_from: row.ref('attempts') })))
    .where('seq', 'in', chosen.select('delivery.seq'))
    .where('seq', '<=', last)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/**
 * Forgets what is old: what was held for 14 days is dropped; ended deliveries and attempts go after `keptDays`. In short
 * transactions, since nothing else is written meanwhile.
 */
export async function trimDeliveries(
  store: Store,
  now: number,
  signal: AbortSignal,
  keptDays = RETENTION.deliveries,
): Promise<void> {
  const before = keptFrom(now, keptDays);
  const steps = [
    (tx: Tx) => dropHeld(tx, now),
    (tx: Tx) => deleteEnded(tx, before),
    (tx: Tx) => deleteAttempts(tx, before),
  ];
  for (const step of steps) {
    while (!signal.aborted && (await store.write(step)) === STEP) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

async function dropHeld(tx: Tx, now: number): Promise<number> {
  const before = now - HELD_DAYS * DAY_MS;
  const { numUpdatedRows } = await tx
    .updateTable('delivery')
    .set({ state: 'dropped', ended_at: now, error: `it was held for ${HELD_DAYS} days` })
    // Once more: PostgreSQL asks the list no second time of a row that it waited for, and it may have been replayed.
    .where('state', '=', 'held')
    .where('next_at', '<', before)
    .where('seq', 'in', (query) =>
      query
        .selectFrom('delivery')
        .select('seq')
        // Not as a parameter: SQLite would not know that the index of held ones will do.
        .where('state', '=', sql.lit<DeliveryState>('held'))
        .where('created_at', '<', before)
        // It may have been due for days before it was held.
        .where('next_at', '<', before)
        .limit(STEP),
    )
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

async function deleteEnded(tx: Tx, before: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('delivery')
    .where('state', 'not in', ['due', 'held'])
    .where('seq', 'in', (query) =>
      query
        .selectFrom('delivery')
        .select('seq')
        .where('created_at', '<', before)
        .where('state', 'not in', ['due', 'held'])
        .orderBy('created_at')
        .limit(STEP),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

async function deleteAttempts(tx: Tx, before: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('attempt')
    .where('id', 'in', (query) => query.selectFrom('attempt').select('id').where('at', '<', before).limit(STEP))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
