/** Deletes stored values of records whose link ended long ago. */
import { sql } from 'kysely';
import type { Tx } from '../../store/store.ts';

/** Used only for writes, or if the record comes back. If it is linked again after this, its values count as a person's. */
const PRUNED = [
  ['written', sql`true`],
  ['property_state', sql`true`],
  ['parent', sql`true`],
  ['override', sql`kind = 'merged'`],
] as const;

/** At most `most` rows of links that ended before `before`. False if none are left. */
export async function pruneRecords(tx: Tx, before: number, most: number): Promise<boolean> {
  let found = false;
  // `<> 'active'` is redundant, but makes SQLite use the index of these links.
  for (const [table, isPruned] of PRUNED) {
    const name = sql.table(table);
    const { numAffectedRows } = await sql`delete from ${name} where ${isPruned} and (provider, record_id) in
      (select link.provider, link.record_id from link
        where link.state <> 'active' and link.state in ('gone', 'merged', 'removed') and link.updated_at < ${before} and exists
          (select 1 from ${name} as own where own.provider = link.provider and own.record_id = link.record_id and ${isPruned})
        limit ${most})`.execute(tx);
    found ||= (numAffectedRows ?? 0n) > 0n;
  }
  return found;
}
