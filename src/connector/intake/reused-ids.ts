/** Finds, counts and reports senders that give one `webhook-id` to different events. */
import { each } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import { setAside } from '../../store/erasure/quarantine.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { ReceivedEvent } from './receipt.ts';

/** Stored until a person drops it. */
export interface ReusedIds {
  readonly count: number;
  readonly since: number;
  /** The newest event: its id, its company, and whether it was stored. */
  readonly id: string;
  readonly entity: string;
  readonly isTaken: boolean;
}

const KEY = 'webhook-id:reused';

/**
 * Counts events whose `webhook-id` belongs to another event, for review, and quarantines those that were not stored.
 * Call it after they were stored.
 */
export async function noteReusedIds(
  tx: Tx,
  events: readonly ReceivedEvent[],
  isStored: (event: ReceivedEvent) => boolean,
  now: number,
): Promise<readonly ReceivedEvent[]> {
  const reused = await findReusedIds(tx, events, isStored);
  const last = reused.at(-1);
  if (last === undefined) return reused;
  const before = await readReusedIds(tx);
  const next: ReusedIds = {
    count: (before?.count ?? 0) + reused.length,
    since: before?.since ?? now,
    id: last.webhookId ?? '',
    entity: last.entity,
    isTaken: isStored(last),
  };
  await writeValue(tx, KEY, JSON.stringify((await readErasures(tx)).redact(next)), now);
  for (const event of reused) {
    if (isStored(event)) continue;
    const reason = `bears the webhook-id ${event.webhookId} of another event, and the signature proves that id: not applied`;
    await setAside(tx, { source: 'webhook', reason, body: Buffer.from(event.body), now });
  }
  return reused;
}

async function findReusedIds(
  tx: Tx,
  events: readonly ReceivedEvent[],
  isStored: (event: ReceivedEvent) => boolean,
): Promise<readonly ReceivedEvent[]> {
  const ids = [...new Set(events.flatMap(({ webhookId }) => webhookId ?? []))];
  if (ids.length === 0) return [];
  const rows = await tx
    .selectFrom('receipt')
    .select(['seq', 'dedupe_key', 'webhook_id', 'digest'])
    .where('webhook_id', 'in', each(tx, ids))
    .where('digest', 'is not', null)
    .execute();
  return events.filter((event) => {
    const others = rows.filter((row) => row.webhook_id === event.webhookId && row.digest !== event.digest);
    // A repeat of the same event does not count as a reused id.
    if (!isStored(event)) return others.some((row) => row.dedupe_key === event.key);
    // Of events stored together, the later ones reused the id.
    const own = rows.find((row) => row.dedupe_key === event.key);
    return own !== undefined && others.some((row) => row.seq < own.seq);
  });
}

/** Undefined if no sender reused an id since a person dropped the count. */
export async function readReusedIds(db: Db): Promise<ReusedIds | undefined> {
  const stored = await readValue(db, KEY);
  return stored === undefined ? undefined : (JSON.parse(stored) as ReusedIds);
}

export async function forgetReusedIds(tx: Tx): Promise<ReusedIds | undefined> {
  const counted = await readReusedIds(tx);
  await tx.deleteFrom('kv').where('key', '=', KEY).execute();
  return counted;
}

/** Restores a deleted count. False if senders reused ids since. */
export async function restoreReusedIds(tx: Tx, counted: ReusedIds, now: number): Promise<boolean> {
  if ((await readReusedIds(tx)) !== undefined) return false;
  await writeValue(tx, KEY, JSON.stringify(counted), now);
  return true;
}
