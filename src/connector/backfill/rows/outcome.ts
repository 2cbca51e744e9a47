/** What a backfill came to. */
import { sql } from 'kysely';
import type { Db } from '../../../store/store.ts';
import { countWhere, readCounts, type ScanCounts } from './counts.ts';

export interface BackfillOutcome extends ScanCounts {
  /** Of the linked ones: those the monitoring service confirmed, refused, or does not know yet. */
  readonly observed: number;
  readonly refused: number;
  readonly unconfirmed: number;
}

/** Counts the scan beside the links it led to. */
export async function outcomeOf(db: Db, provider: string): Promise<BackfillOutcome> {
  const counts = await readCounts(db, provider);
  const links = await db
    .selectFrom('scan')
    .innerJoin('link', (join) =>
      join.onRef('link.provider', '=', 'scan.provider').onRef('link.record_id', '=', 'scan.record_id'),
    )
    .select([
      countWhere(sql`link.observed = 'on'`).as('observed'),
      countWhere(sql`link.observed = 'refused'`).as('refused'),
      countWhere(sql`link.observed in ('unknown', 'off')`).as('unconfirmed'),
    ])
    .where('scan.provider', '=', provider)
    .where('scan.purpose', '=', 'backfill')
    .where('scan.state', '=', 'done')
    .where('scan.action', '=', 'link')
    .where('link.desired', '=', 'on')
    .executeTakeFirstOrThrow();
  return { ...counts, ...links };
}
