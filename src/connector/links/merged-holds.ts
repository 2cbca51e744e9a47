/** Holds of a record that was merged away: the survivor has copies, and they count again only if the CRM restores the record. */
import { sql } from 'kysely';
import type { Tx } from '../../store/store.ts';
import type { RecordRef } from '../names/queues.ts';

/** Takes the holds of a merged record out of force and out of every list. */
export async function setHoldsAside(tx: Tx, { provider, recordId }: RecordRef): Promise<void> {
  await tx
    .updateTable('override')
    .set({ kind: 'merged' })
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .where('kind', '=', sql.lit<'hold'>('hold'))
    .execute();
}

/** The record is there again: its holds count as they did before the merge. */
export async function restoreHolds(tx: Tx, { provider, recordId }: RecordRef): Promise<void> {
  await tx
    .updateTable('override')
    .set({ kind: 'hold' })
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .where('kind', '=', 'merged')
    .execute();
}
