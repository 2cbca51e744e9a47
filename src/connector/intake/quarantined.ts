/** Events that were stored and not folded, or not all of them, until a person answers. */
import { mark } from '../../runtime/lanes/lanes.ts';
import { countRows } from '../../store/count.ts';
import type { Db, Tx } from '../../store/open.ts';

export interface QuarantinedEvent {
  readonly seq: number;
  readonly entity: string;
  readonly reason: string;
  readonly receivedAt: number;
}

/** Says why a receipt was not folded. */
export async function quarantineEvent(tx: Tx, seq: number, reason: string): Promise<void> {
  await tx.updateTable('receipt').set({ quarantined: reason }).where('seq', '=', seq).execute();
}

const quarantined = (db: Db) => db.selectFrom('receipt').where('quarantined', 'is not', null);

/** How many events were set aside, counted up to `most`. */
export const countQuarantined = (db: Db, most: number): Promise<number> =>
  countRows(db, quarantined(db).select('seq').limit(most));

/** What was set aside, in the order it came. */
export async function readQuarantined(db: Db, limit: number): Promise<readonly QuarantinedEvent[]> {
  const rows = await quarantined(db)
    .select(['seq', 'entity', 'quarantined', 'received_at'])
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
 * Folds an event after all, as of the time it came if its own lies ahead of that. A period that is still ahead is set
 * quarantined again. False if nothing waits under that number, or its body is no longer kept.
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

/** Leaves an event out, and returns why it was set aside; undefined if nothing waits under that number. */
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

/** Sets an event quarantined again that was left out. False if its body is no longer kept. */
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
