/** The tables of the monitoring service and of the company index that it feeds. */
import type { Engine, Tx } from '../store.ts';
import { dialect, key, required, unique, zero } from './dialect.ts';

export async function addServiceTables(tx: Tx, engine: Engine): Promise<void> {
  await addRegister(tx, engine);
  await addSecondReadings(tx, engine);
  await addMonitors(tx, engine);
  await addDeliveries(tx, engine);
  await addNews(tx, engine);
  await addMail(tx, engine);
  await addCompanyIndex(tx, engine);
}

async function addRegister(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, table, wideTable, index } = dialect(tx, engine);
  await wideTable('snapshot')
    .addColumn('entity', text, key)
    .addColumn('body', text, required)
    .addColumn('origins', text, (column) => column.notNull().defaultTo('cvr'))
    .addColumn('digest', text, required)
    .addColumn('loaded_at', text, required)
    .addColumn('ahead', text)
    .addColumn('ahead_at', integer)
    .addColumn('withheld', integer, zero)
    .addColumn('updated_at', integer, required)
    .execute();
  await index('snapshot_ahead', 'snapshot', ['ahead_at', 'entity'], 'ahead_at is not null').execute();
  // Without this index, finding them reads every snapshot.
  await index('snapshot_withheld', 'snapshot', ['entity'], 'withheld = 1').execute();

  await table('merger_party')
    .addColumn('organisation', text, required)
    .addColumn('entity', text, required)
    .addPrimaryKeyConstraint('merger_party_key', ['organisation', 'entity'])
    .execute();

  await serial('change', 'seq')
    .addColumn('id', text, unique)
    .addColumn('entity', text, required)
    .addColumn('name', text, required)
    .addColumn('kind', text, required)
    .addColumn('timestamp', text, required)
    .addColumn('updates', text, required)
    .addColumn('created_at', integer, required)
    .addColumn('trace', text)
    .execute();
  await index('change_entity', 'change', ['entity', 'seq']).execute();
  await index('change_created', 'change', ['created_at']).execute();

  await table('filing')
    .addColumn('id', text, key)
    .addColumn('entity', text, required)
    .addColumn('period_start', text)
    .addColumn('period_end', text)
    .addColumn('published_at', text, required)
    .addColumn('data', text)
    .addColumn('error', text)
    .addColumn('attempts', integer, zero)
    .addColumn('retry_at', integer)
    .addColumn('record', text)
    .execute();
  await index('filing_retry', 'filing', ['retry_at'], 'retry_at is not null').execute();
  await index('filing_entity', 'filing', ['entity', 'period_end']).execute();
}

async function addSecondReadings(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, wideTable, index } = dialect(tx, engine);
  await wideTable('second_reading')
    .addColumn('entity', text, required)
    .addColumn('origin', text, required)
    .addColumn('body', text, required)
    .addColumn('digest', text, required)
    .addColumn('loaded_at', text, required)
    .addColumn('ahead', text)
    .addColumn('ahead_at', integer)
    .addColumn('differs', text)
    .addColumn('differs_since', integer)
    .addPrimaryKeyConstraint('second_reading_key', ['entity', 'origin'])
    .execute();
  await index('second_reading_origin', 'second_reading', ['origin']).execute();
  await index('second_reading_ahead', 'second_reading', ['ahead_at', 'entity'], 'ahead_at is not null').execute();
  await index(
    'second_reading_differs',
    'second_reading',
    ['origin', 'differs_since'],
    'differs_since is not null',
  ).execute();
}

async function addMonitors(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, table, index } = dialect(tx, engine);
  await table('api_key')
    .addColumn('id', text, key)
    .addColumn('name', text, required)
    .addColumn('hash', text, unique)
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
    .addColumn('posts_per_minute', integer)
    .addColumn('next_post_at', integer)
    .addColumn('emails', text, required)
    .addColumn('mail_frequency', text, required)
    .addColumn('enabled', integer, required)
    .addColumn('enabled_at', integer)
    .addColumn('disabled_reason', text)
    .addColumn('disabled_at', integer)
    .addColumn('failing_since', integer)
    .addColumn('failed_attempts', integer, zero)
    .addColumn('notices', integer, zero)
    .addColumn('created_at', integer, required)
    .addColumn('updated_at', integer, required)
    .execute();
  // One job for each owner and provider.
  await index('monitor_job', 'monitor', ['owner', 'provider'], 'provider is not null').unique().execute();

  await serial('item', 'seq')
    .addColumn('monitor', text, required)
    .addColumn('entity', text, required)
    .addColumn('record_id', text, required)
    .addColumn('added_at', integer, required)
    .addUniqueConstraint('item_key', ['entity', 'monitor', 'record_id'])
    .execute();
  await index('item_page', 'item', ['monitor', 'seq']).execute();
}

async function addDeliveries(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, index } = dialect(tx, engine);
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
  // Finds deliveries that are due now or next without reading thousands that wait for an unreachable webhook;
  // `delivery_head` tells whether an older one of the same company is due.
  await index('delivery_due', 'delivery', ['monitor', 'next_at', 'seq'], "state = 'due'").execute();
  await index('delivery_head', 'delivery', ['monitor', 'entity', 'seq'], "state = 'due'").execute();
  const failing = "state = 'due' and attempts > 0";
  await index('delivery_failing', 'delivery', ['seq'], failing).execute();
  await index('delivery_failing_monitor', 'delivery', ['monitor', 'seq'], failing).execute();
  await index('delivery_failed', 'delivery', ['seq'], "state = 'failed'").execute();
  await index('delivery_held', 'delivery', ['created_at'], "state = 'held'").execute();
  await index('delivery_state', 'delivery', ['monitor', 'state', 'seq']).execute();
  await index('delivery_created', 'delivery', ['created_at']).execute();

  await serial('attempt', 'id')
    .addColumn('delivery', integer, required)
    .addColumn('at', integer, required)
    .addColumn('took', integer, required)
    .addColumn('number', integer, required)
    .addColumn('status', integer)
    .addColumn('fault', text)
    .addColumn('answer', text)
    .addColumn('headers', text)
    .addColumn('done', integer, zero)
    .execute();
  await index('attempt_delivery', 'attempt', ['delivery', 'id']).execute();
  await index('attempt_at', 'attempt', ['at']).execute();
  await index('attempt_done', 'attempt', ['id'], 'done = 1').execute();
}

async function addNews(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, table, index } = dialect(tx, engine);
  await serial('news', 'seq')
    .addColumn('id', text, unique)
    .addColumn('time', integer, required)
    .addColumn('promoted_until', integer, required)
    .addColumn('type', integer, required)
    .addColumn('body', text, required)
    .execute();
  // The key is the default order within an entity, the index the other one.
  await table('news_entity')
    .addColumn('entity', text, required)
    .addColumn('promoted_until', integer, required)
    .addColumn('time', integer, required)
    .addColumn('type', integer, required)
    .addColumn('news', integer, required)
    .addPrimaryKeyConstraint('news_entity_key', ['entity', 'promoted_until', 'time', 'news'])
    .execute();
  await index('news_entity_time', 'news_entity', ['entity', 'time', 'news', 'type']).execute();
}

async function addMail(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, table, index } = dialect(tx, engine);
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
    // Notices have no change and may repeat.
    .addUniqueConstraint('mail_key', ['change', 'monitor', 'recipient'])
    .execute();
  await index('mail_open', 'mail', ['monitor', 'recipient', 'seq'], 'sent_at is null and failed_at is null').execute();

  await table('unsubscribed')
    .addColumn('monitor', text, required)
    .addColumn('recipient', text, required)
    .addColumn('at', integer, required)
    .addColumn('bounced', text)
    .addColumn('refusals', integer, zero)
    .addColumn('retry_at', integer)
    .addColumn('in_review', integer, zero)
    .addPrimaryKeyConstraint('unsubscribed_key', ['monitor', 'recipient'])
    .execute();
  await index('unsubscribed_review', 'unsubscribed', ['monitor'], 'in_review = 1').execute();
}

async function addCompanyIndex(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, wideTable } = dialect(tx, engine);
  await wideTable('match_entry').addColumn('number', integer, key).addColumn('body', text, required).execute();

  await table('match_key')
    .addColumn('key', integer, required)
    .addColumn('entry', integer, required)
    .addColumn('company', integer, required)
    .addPrimaryKeyConstraint('match_key_key', ['key', 'entry'])
    .execute();

  // Keys that wait for the index.
  await table('match_key_staged')
    .addColumn('bucket', integer, required)
    .addColumn('position', integer, required)
    .addColumn('key', integer, required)
    .addColumn('entry', integer, required)
    .addColumn('company', integer)
    .addPrimaryKeyConstraint('match_key_staged_key', ['bucket', 'position'])
    .execute();
}
