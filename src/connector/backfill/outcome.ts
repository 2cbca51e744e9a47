/** What a backfill came to. */
import { sql } from 'kysely';
import type { Db } from '../../store/store.ts';
import { type Counts, countRows } from './census.ts';

export interface Outcome extends Counts {
  /** Of the linked ones: those the monitoring service confirmed, refused, or was not yet told of. */
  readonly monitored: number;
  readonly refused: number;
  readonly unconfirmed: number;
}

/** Counts the census beside the links it led to. */
export async function outcomeOf(db: Db, provider: string): Promise<Outcome> {
  const counts = await countRows(db, provider);
  const rows = await db
    .selectFrom('census')
    .innerJoin('link', (join) =>
      join.onRef('link.provider', '=', 'census.provider').onRef('link.record_id', '=', 'census.record_id'),
    )
    .select(({ fn }) => ['link.monitored', sql<number>`cast(${fn.countAll()} as bigint)`.as('count')])
    .where('census.provider', '=', provider)
    .where('census.purpose', '=', 'backfill')
    .where('census.state', '=', 'done')
    .where('census.action', '=', 'link')
    .where('link.wish', '=', 'on')
    .groupBy('link.monitored')
    .execute();
  const of = (...states: readonly string[]): number =>
    rows.filter(({ monitored }) => states.includes(monitored)).reduce((sum, { count }) => sum + count, 0);
  return { ...counts, monitored: of('on'), refused: of('refused'), unconfirmed: of('unknown', 'off') };
}
