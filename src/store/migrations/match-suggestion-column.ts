/** Which results of a match are suggestions that wait for a person. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addMatchSuggestions(tx: Tx, engine: Engine): Promise<void> {
  const { integer } = dialect(tx, engine);
  await tx.schema.alterTable('match_result').addColumn('suggested_at', integer).execute();
  await tx.schema
    .createIndex('match_result_suggested')
    .on('match_result')
    .columns(['provider', 'record_id'])
    .where(sql.ref('suggested_at'), 'is not', null)
    .execute();
}
