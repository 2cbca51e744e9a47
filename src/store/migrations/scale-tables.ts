/** The indexes that a million links need, so that a person's question reads what it shows and not the table. */
import { sql } from 'kysely';
import type { Tx } from '../store.ts';

export async function addScaleIndexes(tx: Tx): Promise<void> {
  // One index for both questions about a company's receipts: which are to be applied, and which came.
  await tx.schema.createIndex('receipt_entity').on('receipt').columns(['entity', 'applied_at', 'seq']).execute();
  await tx.schema.dropIndex('receipt_open').execute();
  await tx.schema.createIndex('link_state').on('link').columns(['state', 'provider', 'record_id']).execute();
  await tx.schema.createIndex('link_record').on('link').columns(['record_id', 'provider']).execute();
  await tx.schema
    .createIndex('link_refused')
    .on('link')
    .columns(['provider', 'record_id'])
    .where(sql.ref('monitored'), '=', sql.lit('refused'))
    .execute();
  // The words of its condition stand in the query of monitoring.ts, too: an engine takes it for no other.
  await sql`create index link_unconfirmed on link (provider, record_id) where monitored_error is null
    and (wish = 'on' and (monitored in ('unknown', 'off') or send_update = 1)
      or wish = 'off' and monitored in ('unknown', 'on'))`.execute(tx);
}
