/**
 * Arrivals are webhooks as received. One is on disk before it is answered; the slower part (canonical text, duplicates,
 * company) follows for many at once, when it becomes a receipt.
 */
import { sql } from 'kysely';
import { canonicalise } from '../../protocol/dedupe.ts';
import { type Payload, readHead, readPayload, type WireOptions, withoutWithheld } from '../../protocol/payload.ts';
import { each } from '../../store/each.ts';
import { type InsertTarget, insertRows } from '../../store/insert-rows.ts';
import { type Db, engineOf, type Tx } from '../../store/store.ts';
import { insertReceipts, type ReceivedEvent } from './receipt.ts';
import { noteReusedIds } from './reused-ids.ts';

export interface Arrival {
  readonly body: string;
  readonly webhookId: string | undefined;
  readonly isSigned: boolean;
  readonly trace?: string | undefined;
}

export interface ArrivalsRead {
  repeated: number;
  /** Events whose `webhook-id` belongs to a different event. */
  readonly reused: ReceivedEvent[];
  isMore: boolean;
  /** Arrivals that the store refused as receipts: they wait and are retried. */
  readonly refused: { readonly seq: number; readonly error: unknown }[];
}

/** Arrivals in memory: 64 MiB at the body limit of 1 MiB. */
const CHUNK = 64;
/** Arrivals in one transaction: it holds the store's only writer, and on SQLite the thread. */
const MOST = 256;

const ARRIVALS: InsertTarget = {
  table: 'arrival',
  columns: ['body', 'webhook_id', 'is_signed', 'received_at', 'trace'],
};

export async function insertArrivals(tx: Tx, arrivals: readonly Arrival[], now: number): Promise<void> {
  await insertRows(
    tx,
    ARRIVALS,
    arrivals.map(({ body, webhookId = null, isSigned, trace = null }) => [
      body,
      webhookId,
      isSigned ? 1 : 0,
      now,
      trace,
    ]),
  );
}

/**
 * Turns up to 256 arrivals into receipts, in order: new events, with their companies marked in `apply`. On PostgreSQL,
 * daemons take turns. An arrival that the store refuses does not delay others.
 */
export async function readArrivals(tx: Tx, wire: WireOptions, now: number): Promise<ArrivalsRead> {
  const read: ArrivalsRead = { repeated: 0, reused: [], refused: [], isMore: true };
  let after = 0;
  for (let count = 0; count < MOST; count += CHUNK) {
    const rows = await nextArrivals(tx, after);
    if (rows.length > 0) await receiveOrSplit(tx, rows, { wire, now, read });
    after = rows.at(-1)?.seq ?? after;
    read.isMore = rows.length === CHUNK;
    if (!read.isMore) break;
  }
  return read;
}

export async function hasArrivals(db: Db): Promise<boolean> {
  return (await db.selectFrom('arrival').select('seq').limit(1).executeTakeFirst()) !== undefined;
}

export async function arrivedSince(db: Db): Promise<number | undefined> {
  const first = await db.selectFrom('arrival').select('received_at').orderBy('seq').limit(1).executeTakeFirst();
  return first?.received_at;
}

interface ArrivalRow {
  readonly seq: number;
  readonly body: string;
  readonly webhook_id: string | null;
  readonly is_signed: number;
  readonly received_at: number;
  readonly trace: string | null;
}

interface Reading {
  readonly wire: WireOptions;
  readonly now: number;
  readonly read: ArrivalsRead;
}

/** In order, locked until the transaction ends. */
const nextArrivals = (tx: Tx, after: number): Promise<readonly ArrivalRow[]> =>
  tx
    .selectFrom('arrival')
    .select(['seq', 'body', 'webhook_id', 'is_signed', 'received_at', 'trace'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(CHUNK)
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .execute();

/** All at once; if that fails, one by one. */
async function receiveOrSplit(tx: Tx, rows: readonly ArrivalRow[], reading: Reading): Promise<void> {
  await sql`savepoint arrivals`.execute(tx);
  try {
    await receive(tx, rows, reading);
  } catch (error) {
    await sql`rollback to savepoint arrivals`.execute(tx);
    const [only] = rows;
    if (rows.length > 1) for (const row of rows) await receiveOrSplit(tx, [row], reading);
    else if (only !== undefined) reading.read.refused.push({ seq: only.seq, error });
  }
  await sql`release savepoint arrivals`.execute(tx);
}

async function receive(tx: Tx, rows: readonly ArrivalRow[], { wire, now, read }: Reading): Promise<void> {
  const events = rows.map((row) => eventOf(row, wire));
  // Of two events with one key, the first is stored.
  const first = new Map<string, ReceivedEvent>();
  for (const event of events) if (!first.has(event.key)) first.set(event.key, event);
  const stored = await insertReceipts(tx, [...first.values()], now);
  const isStored = (event: ReceivedEvent): boolean => stored.has(event.key) && first.get(event.key) === event;
  const reused = await noteReusedIds(tx, events, isStored, now);
  await tx
    .deleteFrom('arrival')
    .where(
      'seq',
      'in',
      sql<number>`(select cast(value as bigint) from ${each(
        tx,
        rows.map(({ seq }) => String(seq)),
      )} as seqs)`,
    )
    .execute();
  read.repeated += rows.length - stored.size;
  read.reused.push(...reused);
}

function eventOf(row: ArrivalRow, wire: WireOptions): ReceivedEvent {
  const json = withoutWithheld(JSON.parse(row.body), wire);
  const head = readHead(json);
  // The webhook accepts only readable heads, so this is a bug of cvrsync.
  if (!head.ok) throw new Error(`arrival ${row.seq} cannot be read back from the store`);
  const whole = (): Payload | undefined => {
    const payload = readPayload(json, wire);
    return payload.ok ? payload.payload : undefined;
  };
  const sent = { id: row.webhook_id ?? undefined, isSigned: row.is_signed === 1 };
  const { entityId: entity, timestamp } = head;
  return { ...canonicalise(sent, json, whole), entity, timestamp, receivedAt: row.received_at, trace: row.trace };
}
