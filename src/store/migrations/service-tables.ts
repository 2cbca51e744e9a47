/** The second version: the tables of the monitoring service. */
import { type ColumnBuilderCallback, sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

const required: ColumnBuilderCallback = (column) => column.notNull();
const key: ColumnBuilderCallback = (column) => column.primaryKey().notNull();
const zero: ColumnBuilderCallback = (column) => column.notNull().defaultTo(0);

export async function addService(tx: Tx, engine: Engine): Promise<void> {
  await addRegister(tx, engine);
  await addMonitors(tx, engine);
  await addDeliveries(tx, engine);
  await addNews(tx, engine);
  await addMail(tx, engine);
}

async function addRegister(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, table, wideTable } = dialect(tx, engine);
  await wideTable('snapshot')
    .addColumn('entity', text, key)
    .addColumn('body', text, required)
    .addColumn('digest', text, required)
    .addColumn('loaded_at', text, required)
    .addColumn('ahead', text)
    .addColumn('ahead_at', integer)
    .addColumn('updated_at', integer, required)
    .execute();
  await tx.schema
    .createIndex('snapshot_ahead')
    .on('snapshot')
    .columns(['ahead_at', 'entity'])
    .where(sql.ref('ahead_at'), 'is not', null)
    .execute();

  await table('merger_party')
    .addColumn('organisation', text, required)
    .addColumn('entity', text, required)
    .addPrimaryKeyConstraint('merger_party_key', ['organisation', 'entity'])
    .execute();

  await serial('change', 'seq')
    .addColumn('id', text, (column) => column.notNull().unique())
    .addColumn('entity', text, required)
    .addColumn('name', text, required)
    .addColumn('kind', text, required)
    .addColumn('timestamp', text, required)
    .addColumn('updates', text, required)
    .addColumn('created_at', integer, required)
    .execute();
  await tx.schema.createIndex('change_entity').on('change').columns(['entity', 'seq']).execute();
  await tx.schema.createIndex('change_created').on('change').column('created_at').execute();

  await table('filing')
    .addColumn('id', text, key)
    .addColumn('entity', text, required)
    .addColumn('period_start', text)
    .addColumn('period_end', text)
    .addColumn('published_at', text, required)
    .addColumn('data', text)
    .addColumn('error', text)
    .addColumn('read_at', integer, required)
    .addColumn('attempts', integer, zero)
    .addColumn('retry_at', integer)
    .addColumn('record', text)
    .execute();
  await tx.schema
    .createIndex('filing_retry')
    .on('filing')
    .column('retry_at')
    .where(sql.ref('retry_at'), 'is not', null)
    .execute();
  await tx.schema.createIndex('filing_entity').on('filing').columns(['entity', 'period_end']).execute();
}

async function addMonitors(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, table } = dialect(tx, engine);
  await table('api_key')
    .addColumn('id', text, key)
    .addColumn('name', text, required)
    .addColumn('hash', text, (column) => column.notNull().unique())
    .addColumn('scopes', text, required)
    .addColumn('created_at', integer, required)
    .addColumn('revoked_at', integer)
    .addColumn('used_at', integer)
    .execute();

  await table('monitor')
    .addColumn('id', text, key)
    .addColumn('name', text, required)
    .addColumn('owner', text)
    .addColumn('provider', text)
    .addColumn('target', text, required)
    .addColumn('events', text)
    .addColumn('url', text)
    .addColumn('security', text, required)
    .addColumn('schedule', text)
    .addColumn('emails', text, required)
    .addColumn('mail_rhythm', text, required)
    .addColumn('activated', integer, required)
    .addColumn('activated_at', integer)
    .addColumn('disabled_reason', text)
    .addColumn('disabled_at', integer)
    .addColumn('failing_since', integer)
    .addColumn('failed_attempts', integer, zero)
    .addColumn('notices', integer, zero)
    .addColumn('created_at', integer, required)
    .addColumn('updated_at', integer, required)
    .execute();
  // One job for each owner and provider.
  await tx.schema
    .createIndex('monitor_job')
    .unique()
    .on('monitor')
    .columns(['owner', 'provider'])
    .where(sql.ref('provider'), 'is not', null)
    .execute();

  await serial('item', 'seq')
    .addColumn('monitor', text, required)
    .addColumn('entity', text, required)
    .addColumn('record_id', text, required)
    .addColumn('added_at', integer, required)
    .addUniqueConstraint('item_key', ['entity', 'monitor', 'record_id'])
    .execute();
  await tx.schema.createIndex('item_page').on('item').columns(['monitor', 'seq']).execute();
}

async function addDeliveries(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial } = dialect(tx, engine);
  await serial('delivery', 'seq')
    .addColumn('monitor', text, required)
    .addColumn('entity', text, required)
    .addColumn('change', integer, required)
    .addColumn('events', text, required)
    .addColumn('state', text, required)
    .addColumn('attempts', integer, zero)
    .addColumn('replayed_from', integer)
    .addColumn('next_at', integer, required)
    .addColumn('status', integer)
    .addColumn('error', text)
    .addColumn('created_at', integer, required)
    .addColumn('ended_at', integer)
    .addUniqueConstraint('delivery_key', ['change', 'monitor'])
    .execute();
  // What is due now, and what next, is found along it without passing over thousands that wait for a webhook that is
  // down; `delivery_head` tells whether an older one of the same company is due.
  await tx.schema
    .createIndex('delivery_due')
    .on('delivery')
    .columns(['monitor', 'next_at', 'seq'])
    .where(sql.ref('state'), '=', 'due')
    .execute();
  await tx.schema
    .createIndex('delivery_head')
    .on('delivery')
    .columns(['monitor', 'entity', 'seq'])
    .where(sql.ref('state'), '=', 'due')
    .execute();
  await tx.schema.createIndex('delivery_state').on('delivery').columns(['monitor', 'state', 'seq']).execute();
  await tx.schema.createIndex('delivery_created').on('delivery').column('created_at').execute();
  await tx.schema
    .createIndex('delivery_held')
    .on('delivery')
    .column('created_at')
    .where(sql.ref('state'), '=', 'held')
    .execute();

  await serial('attempt', 'id')
    .addColumn('delivery', integer, required)
    .addColumn('at', integer, required)
    .addColumn('took', integer, required)
    .addColumn('number', integer, required)
    .addColumn('status', integer)
    .addColumn('fault', text)
    .addColumn('answer', text)
    .execute();
  await tx.schema.createIndex('attempt_delivery').on('attempt').columns(['delivery', 'id']).execute();
  await tx.schema.createIndex('attempt_at').on('attempt').column('at').execute();
}

async function addNews(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, table } = dialect(tx, engine);
  await serial('news', 'seq')
    .addColumn('id', text, (column) => column.notNull().unique())
    .addColumn('time', integer, required)
    .addColumn('promoted_until', integer, required)
    .addColumn('type', integer, required)
    .addColumn('body', text, required)
    .execute();
  // The key is the default order within an entity; the index is the other one.
  await table('news_entity')
    .addColumn('entity', text, required)
    .addColumn('promoted_until', integer, required)
    .addColumn('time', integer, required)
    .addColumn('type', integer, required)
    .addColumn('news', integer, required)
    .addPrimaryKeyConstraint('news_entity_key', ['entity', 'promoted_until', 'time', 'news'])
    .execute();
  await tx.schema
    .createIndex('news_entity_time')
    .on('news_entity')
    .columns(['entity', 'time', 'news', 'type'])
    .execute();
}

async function addMail(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, table } = dialect(tx, engine);
  await serial('mail', 'seq')
    .addColumn('monitor', text, required)
    .addColumn('recipient', text, required)
    .addColumn('kind', text, required)
    .addColumn('change', integer)
    .addColumn('body', text, required)
    .addColumn('created_at', integer, required)
    .addColumn('sent_at', integer)
    .addColumn('failed_at', integer)
    .addColumn('error', text)
    .addColumn('message', text)
    // Notices have no change, and are not compared.
    .addUniqueConstraint('mail_key', ['change', 'monitor', 'recipient'])
    .execute();
  await tx.schema
    .createIndex('mail_open')
    .on('mail')
    .columns(['monitor', 'recipient', 'seq'])
    .where(sql<boolean>`sent_at is null and failed_at is null`)
    .execute();
  await table('unsubscribed')
    .addColumn('monitor', text, required)
    .addColumn('recipient', text, required)
    .addColumn('at', integer, required)
    .addPrimaryKeyConstraint('unsubscribed_key', ['monitor', 'recipient'])
    .execute();
}
