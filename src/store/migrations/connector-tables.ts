/** The connector's tables. */
import { sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';
import { dialect, key, required, unique, zero } from './dialect.ts';

export async function addConnectorTables(tx: Tx, engine: Engine): Promise<void> {
  await addInbox(tx, engine);
  await addFacts(tx, engine);
  await addLinks(tx, engine);
  await addRecordState(tx, engine);
  await addNotes(tx, engine);
  await addParents(tx, engine);
  await addHistory(tx, engine);
  await addScans(tx, engine);
  await addMatches(tx, engine);
  if (engine === 'sqlite') await describeTables(tx);
}

async function addInbox(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial, index } = dialect(tx, engine);
  // Indexed by its ascending key only, so that every row is appended to the table.
  await serial('arrival', 'seq')
    .addColumn('body', text, required)
    .addColumn('webhook_id', text)
    .addColumn('is_signed', integer, required)
    .addColumn('received_at', integer, required)
    .addColumn('trace', text)
    .execute();

  await serial('receipt', 'seq')
    .addColumn('dedupe_key', text, unique)
    .addColumn('entity', text, required)
    .addColumn('timestamp', text, required)
    .addColumn('body', text)
    .addColumn('received_at', integer, required)
    .addColumn('applied_at', integer)
    .addColumn('webhook_id', text)
    .addColumn('digest', text)
    .addColumn('quarantined', text)
    .addColumn('begun', integer, zero)
    .addColumn('trace', text)
    .execute();
  // One index for both queries of a company's receipts: those that wait, and all.
  await index('receipt_entity', 'receipt', ['entity', 'applied_at', 'seq']).execute();
  // Waiting receipts are counted every second; without this index that reads every receipt.
  await index('receipt_unapplied', 'receipt', ['applied_at'], 'applied_at is null').execute();
  await index('receipt_webhook_id', 'receipt', ['webhook_id'], 'webhook_id is not null').execute();
  await index('receipt_quarantined', 'receipt', ['seq'], 'quarantined is not null').execute();
}

async function addFacts(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, wideTable } = dialect(tx, engine);
  await wideTable('fact')
    .addColumn('entity', text, required)
    .addColumn('field', text, required)
    .addColumn('value', text, required)
    .addColumn('clock', text, required)
    .addColumn('seq', integer, required)
    .addPrimaryKeyConstraint('fact_key', ['entity', 'field'])
    .execute();
  // Finds companies by the beginning of their names, in any case.
  await sql`create index fact_name on fact (lower(value), entity) where field = 'name'`.execute(tx);

  await wideTable('known_value')
    .addColumn('entity', text, required)
    .addColumn('field', text, required)
    .addColumn('digest', text, required)
    .addColumn('value', text, required)
    .addColumn('seen_at', integer, required)
    .addPrimaryKeyConstraint('known_value_key', ['entity', 'field', 'digest'])
    .execute();
}

async function addLinks(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, index } = dialect(tx, engine);
  await table('link')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('entity', text, required)
    .addColumn('state', text, required)
    .addColumn('reason', text)
    .addColumn('desired', text, required)
    .addColumn('observed', text, required)
    .addColumn('observed_at', integer)
    .addColumn('observed_error', text)
    .addColumn('send_update', integer, zero)
    .addColumn('asked_seq', integer)
    .addColumn('synced_seq', integer, zero)
    .addColumn('synced_at', integer)
    .addColumn('origin', text, (column) => column.notNull().defaultTo('person'))
    .addColumn('trust', text, (column) => column.notNull().defaultTo('crm'))
    .addColumn('writes_number', integer, zero)
    .addColumn('mismatch', text)
    .addColumn('created_at', integer, required)
    .addColumn('updated_at', integer, required)
    .addPrimaryKeyConstraint('link_key', ['provider', 'record_id'])
    .execute();
  await index('link_entity', 'link', ['entity', 'provider']).execute();
  await index('link_record', 'link', ['record_id', 'provider']).execute();
  await index('link_observed', 'link', ['provider', 'desired', 'observed']).execute();
  // Nearly all links are active, so that a search for them reads the table anyway.
  await index('link_inactive', 'link', ['state', 'provider', 'record_id'], "state <> 'active'").execute();
  await index('link_refused', 'link', ['provider', 'record_id'], "observed = 'refused'").execute();
  // The query of monitoring.ts repeats this condition verbatim: otherwise no engine uses the index.
  const unconfirmed = `observed_error is null and (desired = 'on' and (observed in ('unknown', 'off') or send_update = 1)
    or desired = 'off' and observed in ('unknown', 'on'))`;
  await index('link_unconfirmed', 'link', ['provider', 'record_id'], unconfirmed).execute();
}

/** By table: rows in each index, then for each column the rows with equal values up to that column. */
const STATISTICS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  link: {
    // The key: a connection has hundreds of thousands of rows, a record one.
    link: '1000000 500000 1',
    link_entity: '1000000 2 1',
    link_record: '1000000 1 1',
    link_observed: '1000000 500000 400000 400000',
    link_inactive: '10000 4000 2000 1',
    link_refused: '1000 500 1',
    link_unconfirmed: '1000 500 1',
  },
  property_state: {
    property_state: '1000000 500000 10 1',
    property_state_refused: '10000 5000 500 1',
    property_state_kept: '100000 50000 5000 1',
    property_state_part: '10000 1000 500 500 1',
  },
  scan: {
    scan: '1000000 500000 500000 1',
    scan_entity: '1000000 500000 500000 2',
    scan_position: '1000000 500000 500000 250000 1',
    scan_order: '1000000 500000 500000 1',
  },
};

/**
 * Gives SQLite statistics of large tables, so that it finds the links of a company by the company. Without statistics it
 * ranks all indexes equally: with a million links it read all links of a connection, or all active ones, for every
 * batch of events.
 *
 * Fixed numbers, not ANALYZE's: a plan must not depend on how full the tables were at that time. PostgreSQL collects its
 * own statistics. Source: https://sqlite.org/fileformat2.html#the_sqlite_stat1_table
 */
async function describeTables(tx: Tx): Promise<void> {
  // Creates the table of statistics.
  await sql`analyze schema_version`.execute(tx);
  await sql`delete from sqlite_stat1`.execute(tx);
  for (const [table, indexes] of Object.entries(STATISTICS))
    for (const [name, numbers] of Object.entries(indexes))
      await sql`insert into sqlite_stat1 (tbl, idx, stat) values (${table}, ${name}, ${numbers})`.execute(tx);
  await sql`analyze sqlite_schema`.execute(tx);
}

async function addRecordState(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, wideTable, index } = dialect(tx, engine);
  await wideTable('written')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('properties', text, required)
    .addPrimaryKeyConstraint('written_key', ['provider', 'record_id'])
    .execute();

  await table('property_state')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('property', text, required)
    .addColumn('refused', text)
    .addColumn('refused_reason', text)
    .addColumn('refused_schema', text)
    .addColumn('refused_until', integer)
    .addColumn('refused_over', text)
    .addColumn('trusted_at', integer)
    .addColumn('kept', text)
    .addColumn('offered', text)
    .addColumn('kept_at', integer)
    .addColumn('kept_by', text)
    .addColumn('kept_with', text)
    .addColumn('overwritten', text)
    .addPrimaryKeyConstraint('property_state_key', ['provider', 'record_id', 'property'])
    .execute();
  const byProperty = ['provider', 'property', 'record_id'];
  await index('property_state_refused', 'property_state', byProperty, 'refused is not null').execute();
  await index('property_state_kept', 'property_state', byProperty, 'kept is not null and kept_with is null').execute();
  // Finds the differences of which a property is a part.
  const byPart = ['property', 'provider', 'kept_with', 'record_id'];
  await index('property_state_part', 'property_state', byPart, 'kept is not null and kept_with is not null').execute();

  await table('override')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('property', text, required)
    .addColumn('kind', text, required)
    .addColumn('once', integer, required)
    .addColumn('until', integer)
    .addColumn('reason', text)
    .addColumn('created_at', integer, required)
    .addColumn('seen', text)
    .addColumn('origin', text, (column) => column.notNull().defaultTo('person'))
    .addColumn('placed_by', text)
    .addColumn('placed_via', text)
    .addPrimaryKeyConstraint('override_key', ['provider', 'record_id', 'property'])
    .execute();
  // The list of holds pages along one of these, with any filter; the last one counts holds.
  const key = ['provider', 'record_id', 'property'];
  for (const [name, columns] of Object.entries({
    hold: key,
    origin: ['origin', ...key],
    property: ['property', 'provider', 'record_id'],
    until: ['until', ...key, 'origin'],
    part: ['property', 'provider', 'origin', 'until'],
  }))
    await index(`override_${name}`, 'override', columns, "kind = 'hold'").execute();
}

async function addNotes(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, index } = dialect(tx, engine);
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
    .addColumn('attempted_at', integer)
    .addColumn('note_id', text)
    .addColumn('done_at', integer)
    .addPrimaryKeyConstraint('note_key', ['provider', 'record_id', 'marker'])
    .execute();
  await index('note_due', 'note', ['provider', 'record_id', 'seq'], "state = 'due'").execute();
  await index('note_done', 'note', ['done_at']).execute();
}

async function addParents(tx: Tx, engine: Engine): Promise<void> {
  const { text, table, index } = dialect(tx, engine);
  await table('parent')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('owner', text)
    .addColumn('parent_id', text)
    .addColumn('pending_id', text)
    .addPrimaryKeyConstraint('parent_key', ['provider', 'record_id'])
    .execute();
  await index('parent_owner', 'parent', ['owner', 'provider']).execute();
}

async function addHistory(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, serial, index } = dialect(tx, engine);
  await serial('history', 'id')
    .addColumn('at', integer, required)
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('entity', text, required)
    .addColumn('seq', integer, required)
    .addColumn('rule', text, required)
    .addColumn('outcome', text, required)
    .addColumn('lines', text)
    .addColumn('detail', text)
    .execute();
  await index('history_record', 'history', ['provider', 'record_id', 'id']).execute();
  await index('history_entity', 'history', ['entity', 'id']).execute();
  await index('history_seq', 'history', ['seq', 'id']).execute();

  await table('review_answer')
    .addColumn('subject', text, key)
    .addColumn('verb', text, required)
    .addColumn('at', integer, required)
    .addColumn('replaced', text, required)
    .execute();
  await index('review_answer_at', 'review_answer', ['at', 'subject']).execute();
}

async function addScans(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, index } = dialect(tx, engine);
  await table('scan')
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
    .addColumn('version', integer, zero)
    .addPrimaryKeyConstraint('scan_key', ['provider', 'purpose', 'record_id'])
    .execute();
  await index('scan_entity', 'scan', ['provider', 'purpose', 'entity']).execute();
  await index('scan_position', 'scan', ['provider', 'purpose', 'state', 'position']).execute();
  await index('scan_order', 'scan', ['provider', 'purpose', 'position']).execute();

  await table('scan_item')
    .addColumn('provider', text, required)
    .addColumn('entity', text, required)
    .addColumn('record_id', text, required)
    .addPrimaryKeyConstraint('scan_item_key', ['provider', 'entity', 'record_id'])
    .execute();

  await table('plan_skip')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('entity', text, required)
    .addPrimaryKeyConstraint('plan_skip_key', ['provider', 'record_id'])
    .execute();
}

async function addMatches(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table, index } = dialect(tx, engine);
  await table('match_result')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('position', integer, required)
    .addColumn('confidence', text, required)
    .addColumn('entity', text)
    .addColumn('body', text, required)
    .addColumn('suggested_at', integer)
    .addPrimaryKeyConstraint('match_result_key', ['provider', 'record_id'])
    .execute();
  await index('match_result_position', 'match_result', ['provider', 'position']).execute();
  await index('match_result_entity', 'match_result', ['provider', 'entity']).execute();
  await index(
    'match_result_suggested',
    'match_result',
    ['provider', 'record_id'],
    'suggested_at is not null',
  ).execute();
  // Most records may have no proposed company.
  await index('match_result_proposed', 'match_result', ['provider', 'record_id'], 'entity is not null').execute();

  await table('match_rejection')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('entity', text, required)
    .addPrimaryKeyConstraint('match_rejection_key', ['provider', 'record_id', 'entity'])
    .execute();
}
