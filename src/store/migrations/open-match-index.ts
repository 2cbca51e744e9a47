/** Finds the matches that propose a company: most records of a CRM may have none. */
import { sql } from 'kysely';
import type { Tx } from '../store.ts';

export async function addOpenMatchIndex(tx: Tx): Promise<void> {
  await tx.schema
    .createIndex('match_result_proposed')
    .on('match_result')
    .columns(['provider', 'record_id'])
    .where(sql.ref('entity'), 'is not', null)
    .execute();
}
