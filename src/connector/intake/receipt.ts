/** Receipts: accepted webhooks, each once. */
import { type Selectable, sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { type Erasures, readErasures } from '../../store/erasure/erasures.ts';
import { type InsertTarget, insertRows } from '../../store/insert-rows.ts';
import type { ReceiptTable } from '../../store/schema.ts';
import type { Db, Tx } from '../../store/store.ts';

export interface ReceivedEvent {
  readonly key: string;
  readonly entity: string;
  readonly timestamp: string;
  readonly body: string;
  readonly webhookId?: string | undefined;
  readonly digest?: string | undefined;
  readonly receivedAt?: number;
  readonly trace?: string | null;
}

/**
 * Stores new events in order, and marks their companies in `apply`. Returns the keys of the stored events. Keys must
 * differ within a call. Events of an erased entity are not stored, and its name is removed from other bodies.
 */
export async function insertReceipts(
  tx: Tx,
  given: readonly ReceivedEvent[],
  now: number,
): Promise<ReadonlySet<string>> {
  const erasures = await readErasures(tx);
  const events = given
    .filter(({ entity }) => !erasures.has(entity))
    .map((event) => withoutErasedNames(event, erasures));
  if (events.length === 0) return new Set();
  // Lanes first: the lock of a company's lane keeps the sequence numbers of its receipts in order.
  const entities = events.map(({ entity }) => entity);
  await mark(tx, 'apply', entities, now);
  const rows = await insertRows<{ dedupe_key: string }>(
    tx,
    RECEIPTS,
    events.map(({ key, entity, timestamp, body, webhookId = null, digest = null, receivedAt = now, trace = null }) => [
      ...[key, entity, timestamp, body, receivedAt],
      ...[webhookId, digest, trace],
    ]),
  );
  return new Set(rows.map((row) => row.dedupe_key));
}

function withoutErasedNames(event: ReceivedEvent, erasures: Erasures): ReceivedEvent {
  if (erasures.version === '') return event;
  return { ...event, body: JSON.stringify(erasures.redact(JSON.parse(event.body))) };
}

const RECEIPTS: InsertTarget = {
  table: 'receipt',
  columns: ['dedupe_key', 'entity', 'timestamp', 'body', 'received_at', 'webhook_id', 'digest', 'trace'],
  rest: 'on conflict (dedupe_key) do nothing returning dedupe_key',
};

/** Arrivals and receipts, counted up to `most`. */
export async function countUnapplied(db: Db, most: number): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`select count(*) as waiting from
    (select 1 from arrival union all select 1 from receipt where applied_at is null limit ${most}) as waiting`.execute(
    db,
  );
  return rows[0]?.waiting ?? 0;
}

/** The name of the webhook in the log; undefined for an event that `receive` read from a file. */
export const requestIn = ({ webhook_id, digest }: Pick<Selectable<ReceiptTable>, 'webhook_id' | 'digest'>) =>
  webhook_id ?? digest ?? undefined;

const MOST_TRACES = 100;

export async function readWaitingTraces(db: Db, entities: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('receipt')
    .select('trace')
    .distinct()
    .where('trace', 'is not', null)
    .where('applied_at', 'is', null)
    .where('entity', 'in', each(db, entities))
    .limit(MOST_TRACES)
    .execute();
  return rows.flatMap(({ trace }) => trace ?? []);
}

/** Trace contexts of events that the records have not followed yet. */
export async function readUnsyncedTraces(db: Db, provider: string, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('link')
    .innerJoin('receipt', 'receipt.entity', 'link.entity')
    .select('receipt.trace')
    .distinct()
    .where('link.provider', '=', provider)
    .where('link.record_id', 'in', each(db, ids))
    .where('receipt.trace', 'is not', null)
    .whereRef('receipt.seq', '>', 'link.synced_seq')
    .limit(MOST_TRACES)
    .execute();
  return rows.flatMap(({ trace }) => trace ?? []);
}

const WAITING = ['seq', 'entity', 'timestamp', 'body', 'begun', 'webhook_id', 'digest'] as const;

export const readWaiting = (
  db: Db,
  entities: Iterable<string>,
  most: number,
): Promise<readonly Pick<Selectable<ReceiptTable>, (typeof WAITING)[number]>[]> =>
  db
    .selectFrom('receipt')
    .select(WAITING)
    .where('applied_at', 'is', null)
    .where('entity', 'in', each(db, [...entities]))
    .orderBy('seq')
    .limit(most)
    .execute();
