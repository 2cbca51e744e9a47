import type { Expression, ExpressionBuilder, SelectQueryBuilder, SqlBool } from 'kysely';
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { countRows } from '../../store/count.ts';
import type { StoreSchema } from '../../store/schema.ts';
import type { DeliveryTable } from '../../store/service-schema.ts';
import type { Db, Tx } from '../../store/store.ts';

export const DELIVERY_STATES = ['due', 'failing', 'held', 'done', 'failed', 'dropped'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryFilter {
  readonly monitor?: string;
  readonly state?: DeliveryState;
  readonly entity?: string;
  readonly seq?: number;
  readonly seqs?: readonly number[];
  readonly before?: number;
  readonly from?: number;
  readonly since?: number;
  readonly until?: number;
  readonly endedBefore?: number;
  /** 100 by default in a list, 10,000 to replay or drop. */
  readonly limit?: number;
}

export interface Delivery {
  readonly seq: number;
  readonly monitor: string;
  readonly entity: string;
  /** The entity's name at the time of the change. */
  readonly name: string;
  readonly events: readonly string[];
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAt: number | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

export interface Attempt {
  readonly at: number;
  readonly took: number;
  readonly number: number;
  readonly status: number | null;
  readonly fault: string | null;
  readonly answer: string | null;
  /** Names in lower case, without secrets; null if no answer came. */
  readonly headers: Readonly<Record<string, string>> | null;
  readonly done: boolean;
}

const LISTED = 100;
/** The most deliveries that one call replays or drops: longer transactions would block webhooks and requests. */
export const REPLAY_LIMIT = 10_000;

/** The states that a replay without a state covers: everything that did not arrive. */
export const REPLAYED: readonly DeliveryState[] = ['failing', 'held', 'failed'];
export const DROPPED: readonly DeliveryState[] = ['due', 'failing', 'held', 'failed'];

type Query<O> = SelectQueryBuilder<StoreSchema, 'delivery', O>;

const filtered = <O>(query: Query<O>, filter: DeliveryFilter): Query<O> => {
  const { monitor, state, entity, seq, seqs, before, from, since, until, endedBefore } = filter;
  let found = query;
  if (monitor !== undefined) found = found.where('delivery.monitor', '=', monitor);
  if (state !== undefined) found = found.where(isIn(state));
  // The index leads from the entity to its changes, and from these to their deliveries.
  if (entity !== undefined)
    found = found
      .where('delivery.entity', '=', entity)
      .where('delivery.change', 'in', (query) =>
        query.selectFrom('change').select('change.seq').where('change.entity', '=', entity),
      );
  if (seq !== undefined) found = found.where('delivery.seq', '=', seq);
  if (seqs !== undefined) found = found.where('delivery.seq', 'in', seqs);
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

type Delivered = ExpressionBuilder<StoreSchema, 'delivery'>;

/** Whether an attempt of the current schedule failed. Literals let the engines use the partial indexes. */
const isFailing = (row: Delivered): Expression<SqlBool> =>
  row.and([
    row('delivery.state', '=', sql.lit<StoredState>('due')),
    row('delivery.attempts', '>', sql.lit(0)),
    row('delivery.attempts', '>', row.fn.coalesce('delivery.replayed_from', sql.lit(0))),
  ]);

type StoredState = DeliveryTable['state'];

const stateOf = (row: Delivered) =>
  row.case().when(isFailing(row)).then(sql.lit<DeliveryState>('failing')).else(row.ref('delivery.state')).end();

const isIn =
  (state: DeliveryState) =>
  (row: Delivered): Expression<SqlBool> => {
    if (state === 'failing') return isFailing(row);
    const isStored = row('delivery.state', '=', sql.lit<StoredState>(state));
    return state === 'due' ? row.and([isStored, row.not(isFailing(row))]) : isStored;
  };

/** States of deliveries that may need action. Each state has a partial index. */
export type OpenState = Exclude<DeliveryState, 'done' | 'dropped'>;

/** Counts up to a limit. Does not use the index of times: the state's is shorter. */
export const countUpTo = (
  db: Db,
  most: number,
  { since, until, ...filter }: Omit<DeliveryFilter, 'limit'> & { readonly state: OpenState },
): Promise<number> => {
  const createdAt = sql<number>`(delivery.created_at + 0)`;
  const found = filtered(db.selectFrom('delivery'), filter)
    .$if(since !== undefined, (query) => query.where(createdAt, '>=', since ?? 0))
    .$if(until !== undefined, (query) => query.where(createdAt, '<', until ?? 0));
  return countRows(db, found.select('delivery.seq').limit(most));
};

export async function listDeliveries(db: Db, filter: DeliveryFilter = {}): Promise<readonly Delivery[]> {
  const columns = ['seq', 'monitor', 'entity', 'events', 'attempts', 'status', 'error'] as const;
  const rows = await filtered(db.selectFrom('delivery'), filter)
    .select(columns.map((column) => `delivery.${column}` as const))
    .select(['delivery.next_at as nextAt', 'delivery.created_at as createdAt', 'delivery.ended_at as endedAt'])
    .select((row) => stateOf(row).as('state'))
    .select((query) =>
      query.selectFrom('change').select('change.name').whereRef('change.seq', '=', 'delivery.change').as('name'),
    )
    .orderBy('delivery.seq', 'desc')
    .limit(filter.limit ?? LISTED)
    .execute();
  return rows.map(({ events, nextAt, ...row }) => {
    const names: readonly string[] = JSON.parse(events);
    return {
      ...row,
      name: row.name ?? '',
      events: names,
      nextAt: row.state === 'due' || row.state === 'failing' ? nextAt : null,
    };
  });
}

export async function countDeliveries(db: Db, filter: DeliveryFilter = {}): Promise<number> {
  const row = await filtered(db.selectFrom('delivery'), filter)
    .select(sql<number>`count(*)`.as('found'))
    .executeTakeFirstOrThrow();
  return row.found;
}

export interface Replayable extends Pick<Delivery, 'seq' | 'monitor' | 'entity' | 'createdAt'> {
  readonly was: DeliveryState;
}

/** The deliveries that a replay would make due, oldest first. */
export async function listReplayable(db: Db, filter: DeliveryFilter, limit: number): Promise<readonly Replayable[]> {
  const found: Replayable[] = [];
  // One query per state: a condition over all of them would also read the deliveries that arrived.
  for (const state of filter.state === undefined ? REPLAYED : [filter.state])
    found.push(
      ...(await chosenFor(db, { ...filter, state }, { from: REPLAYED, onlyEnabled: true })
        .select(['delivery.seq', 'delivery.monitor', 'delivery.entity', 'delivery.created_at as createdAt'])
        .select((row) => stateOf(row).as('was'))
        .orderBy('delivery.seq')
        .limit(limit)
        .execute()),
    );
  return found.toSorted((a, b) => a.seq - b.seq).slice(0, limit);
}

export async function attemptsOf(db: Db, delivery: number): Promise<readonly Attempt[]> {
  const rows = await db
    .selectFrom('attempt')
    .select(['at', 'took', 'number', 'status', 'fault', 'answer', 'headers', 'done'])
    .where('delivery', '=', delivery)
    .orderBy('id')
    .execute();
  return rows.map(({ done, headers, ...row }) => ({
    ...row,
    headers: headers === null ? null : JSON.parse(headers),
    done: done === 1,
  }));
}

/**
 * Makes failing, held and failed deliveries due now, or those of the given state, oldest first; returns how many. Each
 * keeps its `webhook-id` and restarts its schedule. Skips monitors that are off. Ring `deliver` after the commit.
 */
export async function replayDeliveries(tx: Tx, filter: DeliveryFilter, now: number): Promise<number> {
  const set = { state: 'due', next_at: now, ended_at: null } as const;
  return (await change(tx, filter, now, { from: REPLAYED, onlyEnabled: true, set })).length;
}

/** Replays the deliveries with these numbers; returns the numbers of those that are due now. */
export async function replayNamed(
  tx: Tx,
  seqs: readonly number[],
  filter: Pick<DeliveryFilter, 'state' | 'endedBefore'>,
  now: number,
): Promise<readonly number[]> {
  if (seqs.length === 0) return [];
  const set = { state: 'due', next_at: now, ended_at: null } as const;
  return change(tx, { ...filter, seqs }, now, { from: REPLAYED, onlyEnabled: true, set });
}

/** `off`: its monitor is off, has no webhook, or was removed. */
export type SentNow = 'sent' | 'due' | 'off' | 'unknown';

/** Sends one delivery now, whatever its state, as {@link replayDeliveries} does. */
export async function sendDelivery(tx: Tx, seq: number, now: number): Promise<SentNow> {
  const [delivery] = await listDeliveries(tx, { seq, limit: 1 });
  if (delivery === undefined) return 'unknown';
  if (delivery.state === 'due') return 'due';
  return (await replayDeliveries(tx, { seq, state: delivery.state }, now)) === 1 ? 'sent' : 'off';
}

/**
 * Makes all held deliveries of a monitor due and returns how many. Call it in the transaction that enables the
 * monitor, so that later changes queue behind them.
 */
export async function replayHeld(tx: Tx, monitor: string, now: number): Promise<number> {
  let replayed = 0;
  for (;;) {
    const count = await replayDeliveries(tx, { monitor, state: 'held' }, now);
    replayed += count;
    if (count < REPLAY_LIMIT) return replayed;
  }
}

/** Drops due, failing, held and failed deliveries, or those of the given state; returns how many. */
export async function dropDeliveries(tx: Tx, filter: DeliveryFilter, now: number): Promise<number> {
  const set = { state: 'dropped', ended_at: now } as const;
  return (await change(tx, filter, now, { from: DROPPED, onlyEnabled: false, set })).length;
}

interface Transition {
  readonly from: readonly DeliveryState[];
  /** Skips deliveries of monitors that are off or have no webhook. */
  readonly onlyEnabled: boolean;
  readonly set: Partial<Pick<DeliveryTable, 'state' | 'next_at' | 'ended_at'>>;
}

const chosenFor = (db: Db, filter: DeliveryFilter, { from, onlyEnabled }: Omit<Transition, 'set'>) =>
  filtered(db.selectFrom('delivery'), filter)
    .$if(filter.state === undefined, (query) => query.where((row) => row.or(from.map((state) => isIn(state)(row)))))
    .$if(onlyEnabled, (query) =>
      query
        // Due deliveries need no replay.
        .where((row) => row.not(isIn('due')(row)))
        .where('delivery.monitor', 'in', (inner) =>
          inner.selectFrom('monitor').select('id').where('enabled', '=', 1).where('url', 'is not', null),
        ),
    );

async function change(
  tx: Tx,
  filter: DeliveryFilter,
  now: number,
  { from, onlyEnabled, set }: Transition,
): Promise<readonly number[]> {
  const limit = Math.min(filter.limit ?? REPLAY_LIMIT, REPLAY_LIMIT);
  const chosen = chosenFor(tx, filter, { from, onlyEnabled }).orderBy('delivery.seq').limit(limit);
  const rows = await chosen.select(['delivery.seq', 'delivery.monitor']).execute();
  const last = rows.at(-1)?.seq;
  if (last === undefined) return [];
  // Lock lanes first, as publishing does. A dropped delivery may have delayed a later one of its entity.
  await mark(
    tx,
    'deliver',
    rows.map((row) => row.monitor),
    now,
  );
  const changed = await tx
    .updateTable('delivery')
    .set(set)
    .$if(onlyEnabled, (query) => query.set((row) => ({ replayed_from: row.ref('attempts') })))
    .where('seq', 'in', chosen.select('delivery.seq'))
    .where('seq', '<=', last)
    .returning('seq')
    .execute();
  return changed.map(({ seq }) => seq);
}
