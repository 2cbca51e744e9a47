/** What a person must see beside a failure: where a body came from, which value stays, since when an account waits. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addReviewCare(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer } = dialect(tx, engine);
  await tx.schema
    .alterTable('quarantine')
    .addColumn('source', text, (column) => column.notNull().defaultTo('webhook'))
    .execute();
  await tx.schema.alterTable('quarantine').addColumn('subject', text).execute();
  await sql`update quarantine set source = 'register' where reason like 'register document %'`.execute(tx);

  await tx.schema.alterTable('property_state').addColumn('refused_over', text).execute();
  await sql`update property_state set refused_over = (
      select history.old_value from history
      where history.provider = property_state.provider and history.record_id = property_state.record_id
        and history.property = property_state.property and history.outcome = 'refused'
      order by history.id desc limit 1)
    where refused is not null`.execute(tx);

  await tx.schema.alterTable('rate').addColumn('blocked_since', integer).execute();
  await tx.schema.alterTable('rate').addColumn('fault', text).execute();
}
