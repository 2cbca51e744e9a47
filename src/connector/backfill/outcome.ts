/** What a backfill came to. */
import { sql } from 'kysely';
import type { Db } from '../../store/store.ts';
import { type Counts, countRows, countWhere } from './census.ts';

export interface Outcome extends Counts {
  /** Of the linked ones: those the monitoring service confirmed, refused, or was not yet told of. */
  readonly monitored: number;
  readonly refused: number;
  readonly unconfirmed: number;
}

/** Counts the census beside the links it led to. */
export async function outcomeOf(db: Db, provider: string): Promise<Outcome> {
  const counts = await countRows(db, provider);
  const links = await db
    .selectFrom('census')
    .innerJoin('link', (join) =>
      join.onRef('link.provider', '=', 'census.provider').onRef('link.record_id', '=', 'census.record_id'),
    )
    .select([
      countWhere(sql`link.monitored = 'on'`).as('monitored'),
      countWhere(sql`link.monitored = 'refused'`).as('refused'),
      countWhere(sql`link.monitored in ('unknown', 'off')`).as('unconfirmed'),
    ])
    .where('census.provider', '=', provider)
    .where('census.purpose', '=', 'backfill')
    .where('census.state', '=', 'done')
    .where('census.action', '=', 'link')
    .where('link.wish', '=', 'on')
    .executeTakeFirstOrThrow();
  return { ...counts, ...links };
}
