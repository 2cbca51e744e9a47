/** The quarantine: bodies that proved where they came from and could not be used, for a person to look at. */
import { storable } from './each.ts';
import type { Tx } from './store.ts';

/** Rows kept, the newest. */
export const QUARANTINE_CAP = 200;
const MOST_BYTES = 16 * 1024;

/** Sets a body aside, cut to 16 KiB. One that is repeated takes the place of its earlier copy; the oldest make room. */
export async function setAside(tx: Tx, found: { reason: string; body: Uint8Array; now: number }): Promise<void> {
  const body = storable(new TextDecoder().decode(found.body.subarray(0, MOST_BYTES)));
  await tx.deleteFrom('quarantine').where('body', '=', body).execute();
  await tx
    .insertInto('quarantine')
    .values({ received_at: found.now, reason: storable(found.reason.slice(0, 1_000)), body })
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
