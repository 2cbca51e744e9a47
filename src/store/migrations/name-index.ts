/** Companies are found by the beginning of their names, in any case. */
import { sql } from 'kysely';
import type { Tx } from '../store.ts';

export async function addNameIndex(tx: Tx): Promise<void> {
  await sql`create index fact_name on fact (lower(value), entity) where field = 'name'`.execute(tx);
}
