/** The store's tables, brought up to date version by version in one transaction. */

import { type ColumnBuilderCallback, sql } from 'kysely';
import type { Db, Engine, Store, Tx } from '../store.ts';
import { addAlerts } from './alert-tables.ts';
import { addReviewAnswers } from './answer-tables.ts';
import { addArrivals } from './arrival-tables.ts';
import { addDoneAttempts } from './attempt-columns.ts';
import { addBounces } from './bounce-tables.ts';
import { addCare } from './care-tables.ts';
import { addDaemons } from './daemon-tables.ts';
import { dialect, type Migration } from './dialect.ts';
import { addErasures } from './erasure-tables.ts';
import { addEventCare } from './event-tables.ts';
import { addHistoryLines } from './history-lines.ts';
import { addKeptBy } from './kept-by-column.ts';
import { addKeptTogether } from './kept-with-column.ts';
import { addBeginnings, addLeaseColumn } from './lease-column.ts';
import { describeLinks } from './link-statistics.ts';
import { addMailRefusals } from './mail-refusal-columns.ts';
import { addWritesNumber } from './match-number-column.ts';
import { addMatchResults } from './match-result-tables.ts';
import { addMatchStage } from './match-stage-table.ts';
import { addMatchSuggestions } from './match-suggestion-column.ts';
import { addCompanyIndex } from './match-tables.ts';
import { addMonitorLimits } from './monitor-limit-columns.ts';
import { addNameIndex } from './name-index.ts';
import { addOpenMatchIndex } from './open-match-index.ts';
import { addOperators } from './operator-tables.ts';
import { addOverwrittenEdits } from './overwritten-column.ts';
import { addPendingLines } from './pending-lines.ts';
import { addAnswerTimes, addPendingWrites } from './pending-tables.ts';
import { addPlanMemory } from './plan-tables.ts';
import { addPlanVersions } from './plan-version-column.ts';
import { addRefusedUntil } from './refused-until-column.ts';
import { renameTables } from './rename-tables.ts';
import { addReviewCare } from './review-tables.ts';
import { addRoles } from './role-column.ts';
import { addRuns } from './run-tables.ts';
import { addScaleIndexes } from './scale-tables.ts';
import { addSeenValues } from './seen-column.ts';
import { addService } from './service-tables.ts';
import { addSignOns } from './sign-on-tables.ts';
import { addTraces } from './trace-columns.ts';
import { addUndoRuns } from './undo-tables.ts';
import { addCallWindows } from './window-tables.ts';
import { addWithheld } from './withheld-column.ts';
import { addWritten } from './written-table.ts';

/** Add at the end and never change one that was released. The position is the version. */
const MIGRATIONS: readonly Migration[] = [
  first,
  addService,
  addCare,
  addScaleIndexes,
  addEventCare,
  addReviewCare,
  addLeaseColumn,
  addAlerts,
  addPendingWrites,
  addPlanMemory,
  addBounces,
  addDaemons,
  renameTables,
  addCallWindows,
  addBeginnings,
  addAnswerTimes,
  addArrivals,
  addOperators,
  addNameIndex,
  addCompanyIndex,
  addUndoRuns,
  addMatchResults,
  addWritesNumber,
  addMatchStage,
  addMatchSuggestions,
  addRuns,
  addPlanVersions,
  addRoles,
  addTraces,
  addSignOns,
  addErasures,
  addMonitorLimits,
  describeLinks,
  addSeenValues,
  addWritten,
  addHistoryLines,
  addPendingLines,
  addOverwrittenEdits,
  addKeptTogether,
  addMailRefusals,
  addRefusedUntil,
  addDoneAttempts,
  addKeptBy,
  addWithheld,
  addOpenMatchIndex,
  addReviewAnswers,
];

/** The number PostgreSQL's advisory lock goes by: any constant that no other program picks. */
const LOCK = 4_857_231_906;

/**
 * Brings the tables up to date; two processes may do so at once. Throws where the schema is newer than this version.
 * With `before` it stops before that migration, where rows of an older version can be put in and then brought along.
 */
export async function migrateStore(store: Store, before?: Migration): Promise<void> {
  const last = before === undefined ? MIGRATIONS.length : MIGRATIONS.indexOf(before);
  const version = await currentVersion(store.db, store.engine);
  if (version === last) return;
  refuseNewer(version);
  await store.write(async (tx) => {
    if (store.engine === 'postgres') await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
    const from = await currentVersion(tx, store.engine);
    refuseNewer(from);
    if (from === 0) await sql`create table schema_version (version integer not null)`.execute(tx);
    for (const migrate of MIGRATIONS.slice(from, last)) await migrate(tx, store.engine);
    await sql`delete from schema_version`.execute(tx);
    await sql`insert into schema_version (version) values (${last})`.execute(tx);
  });
}

/** A schema that this version does not work with. Its message says what to do. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** Whether the store has no tables of ours yet, so that no daemon works on it. */
export const isEmpty = async (store: Store): Promise<boolean> => (await currentVersion(store.db, store.engine)) === 0;

/** Throws where the schema is not exactly the one this version works with. */
export async function requireCurrent(store: Store): Promise<void> {
  const version = await currentVersion(store.db, store.engine);
  refuseNewer(version);
  if (version < MIGRATIONS.length) {
    throw new SchemaError(
      `The store has schema version ${version}, this cvrsync needs ${MIGRATIONS.length}: run cvrsync migrate`,
    );
  }
}

function refuseNewer(version: number): void {
  if (version <= MIGRATIONS.length) return;
  throw new SchemaError(
    `The store has schema version ${version}, written by a newer cvrsync; this one knows ${MIGRATIONS.length}: ` +
      'run the newer version, or restore a backup from before the upgrade',
  );
}

async function currentVersion(db: Db, engine: Engine): Promise<number> {
  const known =
    engine === 'postgres'
      ? // Not to_regclass: it may answer from before another process's migration, which we have just waited for.
        sql<{ found: unknown }>`select 1 as found from pg_tables
          where tablename = 'schema_version' and schemaname = any(current_schemas(false))`
      : sql<{ found: unknown }>`select 1 as found from sqlite_schema where type = 'table' and name = 'schema_version'`;
  if ((await known.execute(db)).rows.length === 0) return 0;
  const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db);
  return rows[0]?.version ?? 0;
}

async function first(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, fraction, serial, table } = dialect(tx, engine);
  const required: ColumnBuilderCallback = (column) => column.notNull();
  const key: ColumnBuilderCallback = (column) => column.primaryKey().notNull();
  const zero: ColumnBuilderCallback = (column) => column.notNull().defaultTo(0);

  await serial('receipt', 'seq')
    .addColumn('dedupe_key', text, (column) => column.notNull().unique())
    .addColumn('entity', text, required)
    .addColumn('timestamp', text, required)
    .addColumn('body', text)
    .addColumn('received_at', integer, required)
    .addColumn('applied_at', integer)
    .execute();
  await tx.schema
    .createIndex('receipt_open')
    .on('receipt')
    .columns(['entity', 'seq'])
    .where(sql.ref('applied_at'), 'is', null)
    .execute();

  await serial('quarantine', 'id')
    .addColumn('received_at', integer, required)
    .addColumn('reason', text, required)
    .addColumn('body', text, required)
    .execute();

  await tx.schema
    .createTable('fact')
    .addColumn('entity', text, required)
    .addColumn('field', text, required)
    .addColumn('value', text, required)
    .addColumn('clock', text, required)
    .addColumn('seq', integer, required)
    .addPrimaryKeyConstraint('fact_key', ['entity', 'field'])
    .execute();

  await tx.schema
    .createTable('known_value')
    .addColumn('entity', text, required)
    .addColumn('field', text, required)
    .addColumn('digest', text, required)
    .addColumn('value', text, required)
    .addColumn('seen_at', integer, required)
    .addPrimaryKeyConstraint('known_value_key', ['entity', 'field', 'digest'])
    .execute();

  await table('link')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('entity', text, required)
    .addColumn('state', text, required)
    .addColumn('reason', text)
    .addColumn('wish', text, required)
    .addColumn('monitored', text, required)
    .addColumn('monitored_at', integer)
    .addColumn('monitored_error', text)
    .addColumn('send_update', integer, zero)
    .addColumn('synced_seq', integer, zero)
    .addColumn('synced_at', integer)
    .addColumn('created_at', integer, required)
    .addColumn('updated_at', integer, required)
    .addPrimaryKeyConstraint('link_key', ['provider', 'record_id'])
    .execute();
  await tx.schema.createIndex('link_entity').on('link').columns(['entity', 'provider']).execute();
  await tx.schema.createIndex('link_monitored').on('link').columns(['provider', 'wish', 'monitored']).execute();

  await table('lane')
    .addColumn('queue', text, required)
    .addColumn('key', text, required)
    .addColumn('due_at', integer)
    .addColumn('epoch', integer)
    .addColumn('again_at', integer)
    .addColumn('marks', integer, required)
    .addColumn('attempts', integer, zero)
    .addColumn('since', integer, required)
    .addColumn('error', text)
    .addColumn('parked_at', integer)
    .addPrimaryKeyConstraint('lane_key', ['queue', 'key'])
    .execute();
  await tx.schema.createIndex('lane_due').on('lane').columns(['queue', 'due_at', 'key']).execute();
  await tx.schema
    .createIndex('lane_parked')
    .on('lane')
    .columns(['queue', 'parked_at'])
    .where(sql.ref('parked_at'), 'is not', null)
    .execute();

  await table('property_state')
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('property', text, required)
    .addColumn('written', text)
    .addColumn('written_at', integer)
    .addColumn('refused', text)
    .addColumn('refused_reason', text)
    .addColumn('refused_schema', text)
    .addPrimaryKeyConstraint('property_state_key', ['provider', 'record_id', 'property'])
    .execute();
  await tx.schema
    .createIndex('property_state_refused')
    .on('property_state')
    .columns(['provider', 'property', 'record_id'])
    .where(sql.ref('refused'), 'is not', null)
    .execute();

  await serial('history', 'id')
    .addColumn('at', integer, required)
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('entity', text, required)
    .addColumn('field', text)
    .addColumn('property', text)
    .addColumn('seq', integer, required)
    .addColumn('rule', text, required)
    .addColumn('old_value', text)
    .addColumn('new_value', text)
    .addColumn('outcome', text, required)
    .addColumn('detail', text)
    .execute();
  await tx.schema.createIndex('history_record').on('history').columns(['provider', 'record_id', 'id']).execute();
  await tx.schema.createIndex('history_entity').on('history').columns(['entity', 'id']).execute();

  await table('rate')
    .addColumn('key', text, key)
    .addColumn('next_at', fraction, zero)
    .addColumn('blocked_until', integer, zero)
    .addColumn('reason', text)
    .execute();

  await table('keep')
    .addColumn('key', text, key)
    .addColumn('value', text, required)
    .addColumn('updated_at', integer, required)
    .execute();
}
