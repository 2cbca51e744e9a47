/** What was written last gets one row a record; `property_state` keeps what stands beside it, for the few properties that have that. */
import { type ColumnBuilderCallback, sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

const required: ColumnBuilderCallback = (column) => column.notNull();

export async function addWritten(tx: Tx, engine: Engine): Promise<void> {
  const { text, wideTable } = dialect(tx, engine);
  await wideTable('written')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('properties', text, required)
    .addPrimaryKeyConstraint('written_key', ['provider', 'record_id'])
    .execute();
  // PostgreSQL's binary JSON takes neither a NUL nor half a character, which older versions stored in JSON's spelling.
  const value = sql.raw(String.raw`regexp_replace(written, '\\u(0000|d[89a-f][0-9a-f]{2})', '\ufffd', 'g')`);
  const properties =
    engine === 'postgres'
      ? sql`cast(jsonb_object_agg(property, jsonb_build_array(cast(${value} as jsonb), coalesce(written_at, 0))) as text)`
      : sql`json_group_object(property, json_array(json(written), coalesce(written_at, 0)))`;
  await sql`insert into written (provider, record_id, properties)
    select provider, record_id, ${properties} from property_state
    where written is not null group by provider, record_id`.execute(tx);
  await sql`delete from property_state where refused is null and kept is null and trusted_at is null`.execute(tx);
  await tx.schema.alterTable('property_state').dropColumn('written').execute();
  await tx.schema.alterTable('property_state').dropColumn('written_at').execute();
}
