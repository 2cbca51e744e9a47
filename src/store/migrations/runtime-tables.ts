/** The tables of the runtime. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect, key, required, unique, zero } from './dialect.ts';

export async function addRuntimeTables(tx: Tx, engine: Engine): Promise<void> {
  await addLanes(tx, engine);
  await addKept(tx, engine);
  await addOperators(tx, engine);
  await addRuns(tx, engine);
  await addActivity(tx, engine);
}

async function addLanes(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, fraction, table, wideTable, index } = dialect(tx, engine);
  await table('lane')
    .addColumn('queue', text, required)
    .addColumn('key', text, required)
    .addColumn('due_at', integer)
    .addColumn('fence', integer)
    // In no index, so that PostgreSQL claims and renews lanes in place.
    .addColumn('lease_until', integer)
    .addColumn('again_at', integer)
    .addColumn('marks', integer, required)
    .addColumn('attempts', integer, zero)
    .addColumn('since', integer, required)
    .addColumn('unended', integer, zero)
    .addColumn('error', text)
    .addColumn('parked_at', integer)
    .addPrimaryKeyConstraint('lane_key', ['queue', 'key'])
    .execute();
  await index('lane_due', 'lane', ['queue', 'due_at', 'key']).execute();
  await index('lane_parked', 'lane', ['queue', 'parked_at'], 'parked_at is not null').execute();
  // An update in place needs free space on the row's page.
  if (engine === 'postgres') await sql`alter table lane set (fillfactor = 50)`.execute(tx);

  await wideTable('pending_write')
    .addColumn('queue', text, required)
    .addColumn('key', text, required)
    .addColumn('fence', integer, required)
    .addColumn('at', integer, required)
    .addColumn('detail', text, required)
    .addColumn('check_at', integer, required)
    .addColumn('answered_at', integer)
    .addPrimaryKeyConstraint('pending_write_key', ['queue', 'key', 'fence', 'at'])
    .execute();
  await index('pending_write_check', 'pending_write', ['check_at']).execute();

  await table('rate_limit')
    .addColumn('key', text, key)
    .addColumn('next_at', fraction, zero)
    .addColumn('blocked_until', integer, zero)
    .addColumn('reason', text)
    .addColumn('blocked_since', integer)
    .addColumn('fault', text)
    .execute();

  await table('call_window')
    .addColumn('key', text, key)
    .addColumn('since', integer, required)
    .addColumn('taken', integer, required)
    .execute();

  await table('daemon')
    .addColumn('id', text, key)
    .addColumn('name', text, required)
    .addColumn('started_at', integer, required)
    .addColumn('seen_at', integer, required)
    .addColumn('digests', text, required)
    .addColumn('roles', text, required)
    .execute();
}

async function addKept(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, serial } = dialect(tx, engine);
  await table('kv')
    .addColumn('key', text, key)
    .addColumn('value', text, required)
    .addColumn('updated_at', integer, required)
    .execute();

  await serial('config_version', 'id')
    .addColumn('digest', text, required)
    .addColumn('accepted_at', integer, required)
    .addColumn('accepted_by', text, required)
    .addColumn('digests', text, required)
    .addColumn('content', text, required)
    .execute();

  await serial('quarantine', 'id')
    .addColumn('received_at', integer, required)
    .addColumn('source', text, required)
    .addColumn('subject', text)
    .addColumn('reason', text, required)
    .addColumn('body', text, required)
    .execute();

  await table('alert')
    .addColumn('channel', text, required)
    .addColumn('key', text, required)
    .addColumn('what', text, required)
    .addColumn('since', integer, required)
    .addColumn('notified_at', integer)
    .addColumn('gone_at', integer)
    .addPrimaryKeyConstraint('alert_key', ['channel', 'key'])
    .execute();

  await table('erasure')
    .addColumn('digest', text, key)
    .addColumn('erased_with', text, required)
    .addColumn('begun_at', integer, required)
    .addColumn('done_at', integer)
    .addColumn('rest', text)
    .execute();
}

async function addOperators(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, serial, index } = dialect(tx, engine);
  await table('operator')
    .addColumn('name', text, key)
    .addColumn('role', text, required)
    .addColumn('token_hash', text, unique)
    .addColumn('created_at', integer, required)
    .addColumn('revoked_at', integer)
    .addColumn('subject', text)
    .execute();
  await index('operator_subject', 'operator', ['subject']).unique().execute();

  await table('session')
    .addColumn('hash', text, key)
    .addColumn('operator', text, required)
    .addColumn('agent', text, required)
    .addColumn('created_at', integer, required)
    .addColumn('seen_at', integer, required)
    .addColumn('ends_at', integer, required)
    .execute();
  await index('session_operator', 'session', ['operator', 'created_at']).execute();

  await table('login_link')
    .addColumn('hash', text, key)
    .addColumn('operator', text, required)
    .addColumn('ends_at', integer, required)
    .execute();

  await table('sign_on')
    .addColumn('hash', text, key)
    .addColumn('nonce', text, required)
    .addColumn('verifier', text, required)
    .addColumn('next', text, required)
    .addColumn('kept', text)
    .addColumn('ends_at', integer, required)
    .execute();

  await serial('audit', 'id')
    .addColumn('at', integer, required)
    .addColumn('actor_kind', text, required)
    .addColumn('actor', text, required)
    .addColumn('via', text, required)
    .addColumn('action', text, required)
    .addColumn('subject', text)
    .addColumn('detail', text)
    .addColumn('result', text, required)
    .execute();
  for (const column of ['actor', 'action', 'subject'])
    await index(`audit_${column}`, 'audit', [column, 'id']).execute();
}

async function addRuns(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, serial, index } = dialect(tx, engine);
  await serial('run', 'id')
    .addColumn('task', text, required)
    .addColumn('input', text, required)
    .addColumn('stage', text, required)
    .addColumn('state', text, required)
    .addColumn('actor_kind', text, required)
    .addColumn('actor', text, required)
    .addColumn('via', text, required)
    .addColumn('created_at', integer, required)
    .addColumn('previewed_at', integer)
    .addColumn('confirmed_at', integer)
    .addColumn('started_at', integer)
    .addColumn('ended_at', integer)
    .addColumn('done', integer, required)
    .addColumn('total', integer)
    .addColumn('counts', text, (column) => column.notNull().defaultTo('{}'))
    .addColumn('error', text)
    .execute();

  await table('run_item')
    .addColumn('run', integer, required)
    .addColumn('key', text, required)
    .addColumn('kind', text, required)
    .addColumn('detail', text, required)
    .addPrimaryKeyConstraint('run_item_key', ['run', 'key'])
    .execute();
  await index('run_item_kind', 'run_item', ['run', 'kind', 'key']).execute();
}

async function addActivity(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await table('activity')
    .addColumn('span', text, required)
    .addColumn('kind', text, required)
    .addColumn('subject', text, required)
    .addColumn('at', integer, required)
    .addColumn('count', integer, required)
    .addPrimaryKeyConstraint('activity_key', ['span', 'kind', 'subject', 'at'])
    .execute();
}
