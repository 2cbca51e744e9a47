/** Stored events that wait, whole or in part, for a person's decision. */
import { mark } from '../../runtime/lanes/lanes.ts';
import type { Db, Tx } from '../../store/store.ts';

export interface QuarantinedEvent {
  readonly seq: number;
  readonly entity: string;
  readonly reason: string;
  readonly receivedAt: number;
}

export async function quarantineEvent(tx: Tx, seq: number, reason: string): Promise<void> {
  await tx.updateTable('receipt').set({ quarantined: reason }).where('seq', '=', seq).execute();
}

export const quarantined = (db: Db) => db.selectFrom('receipt').where('quarantined', 'is not', null);

export async function readQuarantined(db: Db, limit: number, after = 0): Promise<readonly QuarantinedEvent[]> {
  const rows = await quarantined(db)
    .select(['seq', 'entity', 'quarantined', 'received_at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(({ seq, entity, quarantined: reason, received_at }) => ({
    seq,
    entity,
    reason: reason ?? '',
    receivedAt: received_at,
  }));
}

/**
 * Folds an event, at its arrival time if its own is later. A period that is still ahead is quarantined again. False if
 * no such event waits, or its body was deleted.
 */
export async function retryQuarantined(tx: Tx, seq: number, now: number): Promise<boolean> {
  const found = await tx
    .selectFrom('receipt')
    .select(['entity', 'timestamp', 'received_at'])
    .where('seq', '=', seq)
    .where('quarantined', 'is not', null)
    .where('body', 'is not', null)
    .executeTakeFirst();
  if (found === undefined) return false;
  await mark(tx, 'apply', [found.entity], now);
  const received = new Date(found.received_at).toISOString();
  await tx
    .updateTable('receipt')
    .set({
      quarantined: null,
      applied_at: null,
      begun: 0,
      timestamp: found.timestamp > received ? received : found.timestamp,
    })
    .where('seq', '=', seq)
    .execute();
  return true;
}

/** Drops an event and returns the reason of its quarantine; undefined if no such event waits. */
export async function dropQuarantined(tx: Tx, seq: number): Promise<string | undefined> {
  const found = await tx
    .selectFrom('receipt')
    .select('quarantined')
    .where('seq', '=', seq)
    .where('quarantined', 'is not', null)
    .executeTakeFirst();
  await tx.updateTable('receipt').set({ quarantined: null }).where('seq', '=', seq).execute();
  return found?.quarantined ?? undefined;
}

/** Quarantines a dropped event again. False if its body was deleted. */
export async function reopenQuarantined(tx: Tx, seq: number, reason: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('receipt')
    .set({ quarantined: reason })
    .where('seq', '=', seq)
    .where('quarantined', 'is', null)
    .where('body', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
