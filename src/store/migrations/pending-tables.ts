/** Pending writes, of all queues in one table; what `property_state` held of them moves there. */
import { type ColumnBuilderCallback, sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

const required: ColumnBuilderCallback = (column) => column.notNull();

export async function addPendingWrites(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await table('pending_write')
    .addColumn('queue', text, required)
    .addColumn('key', text, required)
    .addColumn('fence', integer, required)
    .addColumn('at', integer, required)
    .addColumn('detail', text, required)
    .addColumn('look_at', integer, required)
    .addPrimaryKeyConstraint('pending_write_key', ['queue', 'key', 'fence', 'at'])
    .execute();
  await tx.schema.createIndex('pending_write_look').on('pending_write').column('look_at').execute();
  await moveTried(tx);
  await tx.schema.alterTable('property_state').dropColumn('tried').execute();
}

/** When the answer to a pending write came whose lane was another's by then. */
export async function addAnswerTimes(tx: Tx, engine: Engine): Promise<void> {
  await tx.schema.alterTable('pending_write').addColumn('answered_at', dialect(tx, engine).integer).execute();
}

/** Each property's one is a pending write of its own: only their times must differ. */
async function moveTried(tx: Tx): Promise<void> {
  const { rows } = await sql<{ provider: string; record_id: string; property: string; tried: string }>`
    select provider, record_id, property, tried from property_state where tried is not null`.execute(tx);
  const now = Date.now();
  for (const [index, { provider, record_id, property, tried }] of rows.entries()) {
    const detail = `{${JSON.stringify(property)}:${tried}}`;
    await sql`insert into pending_write (queue, key, fence, at, detail, look_at)
      values (${`sync:${provider}`}, ${record_id}, 0, ${now - index}, ${detail}, ${now})`.execute(tx);
  }
}
