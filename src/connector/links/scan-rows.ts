/** The scanned records of a connection: backfill and reconcile share one table, each for its purpose. */
import type { ScanTable } from '../../store/schema.ts';
import type { Tx } from '../../store/store.ts';

export async function deleteScanRows(
  tx: Tx,
  provider: string,
  purpose: ScanTable['purpose'],
  most: number,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('scan')
    .where('provider', '=', provider)
    .where('purpose', '=', purpose)
    .where('record_id', 'in', (query) =>
      query
        .selectFrom('scan as old')
        .select('old.record_id')
        .where('old.provider', '=', provider)
        .where('old.purpose', '=', purpose)
        .limit(most),
    )
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
