/** The quarantine: bodies that proved where they came from and could not be used, for a person to look at. */
import type { Db, Tx } from '../store/store.ts';

/** Rows kept, the newest. */
export const QUARANTINE_CAP = 200;
const MOST_BYTES = 16 * 1024;

/** A body that was set aside. */
export interface Quarantined {
  readonly id: number;
  readonly receivedAt: number;
  readonly reason: string;
  readonly body: string;
}

/** Sets a body aside, cut to 16 KiB. One that is repeated takes the place of its earlier copy; the oldest make room. */
export async function setAside(tx: Tx, found: { reason: string; body: Uint8Array; now: number }): Promise<void> {
  // PostgreSQL keeps no NUL in a text.
  const body = new TextDecoder().decode(found.body.subarray(0, MOST_BYTES)).replaceAll('\0', '\uFFFD');
  await tx.deleteFrom('quarantine').where('body', '=', body).execute();
  await tx
    .insertInto('quarantine')
    .values({ received_at: found.now, reason: found.reason.slice(0, 1_000), body })
    .execute();
  await trimQuarantine(tx);
}

/** Deletes all but the newest. */
export async function trimQuarantine(tx: Tx): Promise<void> {
  await tx
    .deleteFrom('quarantine')
    .where('id', '<=', (query) =>
      query.selectFrom('quarantine').select('id').orderBy('id', 'desc').limit(1).offset(QUARANTINE_CAP),
    )
    .execute();
}

/** What is set aside, newest first. */
export async function listQuarantine(db: Db): Promise<readonly Quarantined[]> {
  return db
    .selectFrom('quarantine')
    .select(['id', 'received_at as receivedAt', 'reason', 'body'])
    .orderBy('id', 'desc')
    .execute();
}

/** Deletes one body. False where there is none of that id. */
export async function dropQuarantined(tx: Tx, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('quarantine').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}
