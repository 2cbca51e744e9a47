/** Forgets what was remembered of records whose link ended long ago. */
import { sql } from 'kysely';
import type { Tx } from '../../store/store.ts';

/** What is of use only to who writes to the record; should it be linked again, its values are a person's. */
const TABLES = ['written', 'property_state', 'parent'] as const;

/** Deletes what is remembered of at most `most` records whose link ended before `before`. False if there are none left. */
export async function pruneRecords(tx: Tx, before: number, most: number): Promise<boolean> {
  let found = false;
  // `<> 'active'` says nothing more, but lets SQLite take the index of these links.
  for (const table of TABLES) {
    const name = sql.table(table);
    const { numAffectedRows } = await sql`delete from ${name} where (provider, record_id) in
      (select link.provider, link.record_id from link
        where link.state <> 'active' and link.state in ('gone', 'merged', 'removed') and link.updated_at < ${before} and exists
          (select 1 from ${name} as own where own.provider = link.provider and own.record_id = link.record_id)
        limit ${most})`.execute(tx);
    found ||= (numAffectedRows ?? 0n) > 0n;
  }
  return found;
}
