/**
 * Arrivals: webhooks as they came. A webhook is on disk as one before it is answered; what takes longer (its canonical
 * text, whether it came before, whom it concerns) is made later, for many at a time, when it becomes a receipt.
 */
import { sql } from 'kysely';
import { canonicalise } from '../../protocol/dedupe.ts';
import { type Payload, readHead, readPayload, type WireOptions, withoutWithheld } from '../../protocol/payload.ts';
import { each } from '../../store/each.ts';
import { type InsertTarget, insertRows } from '../../store/insert-rows.ts';
import { type Db, engineOf, type Tx } from '../../store/store.ts';
import { insertReceipts, type ReceivedEvent } from './receipt.ts';
import { noteReusedIds } from './reused-ids.ts';

/** A webhook that proved its sender and whose head can be read. */
export interface Arrival {
  /** JSON as it was sent. */
  readonly body: string;
  /** The sender's id for it. */
  readonly webhookId: string | undefined;
  /** Whether a signature proves that id. */
  readonly isSigned: boolean;
  /** The trace context that it came in. */
  readonly trace?: string | undefined;
}

/** What became of arrivals that were read. */
export interface ArrivalsRead {
  /** How many had come before. */
  repeated: number;
  /** Those whose sender gave their id to an event that differs. */
  readonly reused: ReceivedEvent[];
  /** Whether more may wait. */
  isMore: boolean;
  /** Those that the store would not take as receipts: they wait, and are tried again. */
  readonly refused: { readonly seq: number; readonly error: unknown }[];
}

/** Read into memory at a time: at the body limit of 1 MiB each, 64 MiB. */
const CHUNK = 64;
/** Read in one transaction: it holds the store's only writer, and on SQLite the thread. */
const MOST = 256;

const ARRIVALS: InsertTarget = {
  table: 'arrival',
  columns: ['body', 'webhook_id', 'is_signed', 'received_at', 'trace'],
};

/** Stores arrivals in their order, behind all that were stored before. */
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
 * Makes receipts of arrivals, in their order, up to 256: events that have not come before, with their companies marked in
 * `apply`. On PostgreSQL daemons do so one after the other. An arrival that the store refuses as a receipt keeps no other
 * one waiting.
 */
export async function readArrivals(tx: Tx, wire: WireOptions, now: number): Promise<ArrivalsRead> {
  const read: ArrivalsRead = { repeated: 0, reused: [], refused: [], isMore: true };
  let after = 0;
  for (let count = 0; count < MOST; count += CHUNK) {
    const rows = await waiting(tx, after);
    if (rows.length > 0) await receiveOrSplit(tx, rows, { wire, now, read });
    after = rows.at(-1)?.seq ?? after;
    read.isMore = rows.length === CHUNK;
    if (!read.isMore) break;
  }
  return read;
}

/** Whether any wait to be read. */
export async function hasArrivals(db: Db): Promise<boolean> {
  return (await db.selectFrom('arrival').select('seq').limit(1).executeTakeFirst()) !== undefined;
}

/** Since when the first of those that wait does so; undefined if none waits. */
export async function arrivedSince(db: Db): Promise<number | undefined> {
  const first = await db.selectFrom('arrival').select('received_at').orderBy('seq').limit(1).executeTakeFirst();
  return first?.received_at;
}

interface Row {
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

/** The next ones, in their order, locked until the transaction ends. */
const waiting = (tx: Tx, after: number): Promise<readonly Row[]> =>
  tx
    .selectFrom('arrival')
    .select(['seq', 'body', 'webhook_id', 'is_signed', 'received_at', 'trace'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(CHUNK)
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .execute();

/** All together; if that fails, one by one. */
async function receiveOrSplit(tx: Tx, rows: readonly Row[], reading: Reading): Promise<void> {
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

async function receive(tx: Tx, rows: readonly Row[], { wire, now, read }: Reading): Promise<void> {
  const events = rows.map((row) => eventOf(row, wire));
  // Of two under one key the first is the one that is stored.
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

function eventOf(row: Row, wire: WireOptions): ReceivedEvent {
  const json = withoutWithheld(JSON.parse(row.body), wire);
  const head = readHead(json);
  // The webhook accepts only what has a head: where that cannot be read any more, the fault is ours.
  if (!head.ok) throw new Error(`arrival ${row.seq} cannot be read back from the store`);
  const whole = (): Payload | undefined => {
    const payload = readPayload(json, wire);
    return payload.ok ? payload.payload : undefined;
  };
  const sent = { id: row.webhook_id ?? undefined, isSigned: row.is_signed === 1 };
  const { entityId: entity, timestamp } = head;
  return { ...canonicalise(sent, json, whole), entity, timestamp, receivedAt: row.received_at, trace: row.trace };
}
