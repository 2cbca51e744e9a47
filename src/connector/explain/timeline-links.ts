/** The records of a company's links, in any state. */
import type { Db } from '../../store/store.ts';

export interface TimelineLink {
  readonly provider: string;
  readonly record: string;
  readonly state: string;
  readonly reason: string | null;
  readonly desired: string;
  readonly observed: string;
  readonly observedError: string | null;
  readonly syncedAt: number | null;
  readonly syncedSeq: number;
  readonly origin: string;
  readonly trust: string;
}

export async function readLinks(
  db: Db,
  entity: string,
  only?: { readonly provider: string; readonly id: string },
): Promise<readonly TimelineLink[]> {
  const rows = await db
    .selectFrom('link')
    .selectAll()
    .where('entity', '=', entity)
    .orderBy('provider')
    .orderBy('record_id')
    .execute();
  return rows
    .filter((row) => only === undefined || (row.provider === only.provider && row.record_id === only.id))
    .map((row) => ({
      provider: row.provider,
      record: row.record_id,
      state: row.state,
      reason: row.reason,
      desired: row.desired,
      observed: row.observed,
      observedError: row.observed_error,
      syncedAt: row.synced_at,
      syncedSeq: row.synced_seq,
      origin: row.origin,
      trust: row.trust,
    }));
}
