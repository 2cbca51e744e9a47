/** The third version: the tables by which links are found, healed and undone. */
import { type ColumnBuilderCallback, sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

const required: ColumnBuilderCallback = (column) => column.notNull();

export async function addCare(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await tx.schema
    .alterTable('link')
    .addColumn('origin', text, (column) => column.notNull().defaultTo('person'))
    .execute();
  await tx.schema
    .alterTable('link')
    .addColumn('trust', text, (column) => column.notNull().defaultTo('crm'))
    .execute();
  await tx.schema.alterTable('link').addColumn('doubt', text).execute();
  for (const [name, type] of [
    ['trusted_at', integer],
    ['kept', text],
    ['offered', text],
    ['kept_at', integer],
    ['tried', text],
  ] as const)
    await tx.schema.alterTable('property_state').addColumn(name, type).execute();
  await tx.schema
    .createIndex('property_state_kept')
    .on('property_state')
    .columns(['provider', 'property', 'record_id'])
    .where(sql.ref('kept'), 'is not', null)
    .execute();
  await tx.schema.createIndex('history_seq').on('history').columns(['seq', 'id']).execute();

  await table('ruling')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('property', text, required)
    .addColumn('kind', text, required)
    .addColumn('once', integer, required)
    .addColumn('until', integer)
    .addColumn('reason', text)
    .addColumn('created_at', integer, required)
    .addPrimaryKeyConstraint('ruling_key', ['provider', 'record_id', 'property'])
    .execute();

  await table('note')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('marker', text, required)
    .addColumn('seq', integer, required)
    .addColumn('entity', text, required)
    .addColumn('subject', text, required)
    .addColumn('body', text, required)
    .addColumn('at', integer, required)
    .addColumn('state', text, required)
    .addColumn('tried_at', integer)
    .addColumn('note_id', text)
    .addColumn('done_at', integer)
    .addPrimaryKeyConstraint('note_key', ['provider', 'record_id', 'marker'])
    .execute();
  await tx.schema
    .createIndex('note_due')
    .on('note')
    .columns(['provider', 'record_id', 'seq'])
    .where(sql.ref('state'), '=', 'due')
    .execute();
  await tx.schema.createIndex('note_done').on('note').column('done_at').execute();

  await table('parent')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('owner', text)
    .addColumn('parent_id', text)
    .addColumn('tried_id', text)
    .addColumn('at', integer, required)
    .addPrimaryKeyConstraint('parent_key', ['provider', 'record_id'])
    .execute();
  await tx.schema.createIndex('parent_owner').on('parent').columns(['owner', 'provider']).execute();

  await table('census')
    .addColumn('provider', text, required)
    .addColumn('purpose', text, required)
    .addColumn('record_id', text, required)
    .addColumn('position', integer, required)
    .addColumn('name', text)
    .addColumn('found', text)
    .addColumn('entity', text)
    .addColumn('verdict', text, required)
    .addColumn('action', text, required)
    .addColumn('state', text, required)
    .addColumn('detail', text)
    .addPrimaryKeyConstraint('census_key', ['provider', 'purpose', 'record_id'])
    .execute();
  await tx.schema.createIndex('census_entity').on('census').columns(['provider', 'purpose', 'entity']).execute();
  await tx.schema
    .createIndex('census_position')
    .on('census')
    .columns(['provider', 'purpose', 'state', 'position'])
    .execute();

  await table('census_item')
    .addColumn('provider', text, required)
    .addColumn('entity', text, required)
    .addColumn('record_id', text, required)
    .addPrimaryKeyConstraint('census_item_key', ['provider', 'entity', 'record_id'])
    .execute();
}
