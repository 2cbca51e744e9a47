/** Undoes that the daemon runs for a person: what they are to take back, how far they are, and what became of each property. */
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { type AuditActor, recordAudit } from '../../runtime/operators/audit.ts';
import { eachRow } from '../../store/each.ts';
import type { UndoRunTable } from '../../store/runtime-schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { Undone } from './outcome.ts';
import type { UndoProgress } from './run.ts';
import type { Selection } from './writes.ts';

/** The lanes of undoes; key: the run's id. */
export const UNDO_QUEUE = 'undo';

/** An undo as it stands. First its preview is run, and then, where a person wants it, the undo itself. */
export interface StoredUndo {
  readonly id: number;
  readonly selection: Selection;
  readonly stage: UndoRunTable['stage'];
  readonly state: UndoRunTable['state'];
  readonly actor: AuditActor;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly records: number;
  readonly recordCount: number | null;
  readonly error: string | null;
}

const KEPT_DAYS = 90;
const DAY_MS = 86_400_000;

const storedUndo = (row: Selectable<UndoRunTable>): StoredUndo => ({
  id: row.id,
  // We wrote it.
  selection: JSON.parse(row.selection),
  stage: row.stage,
  state: row.state,
  actor: { kind: row.actor_kind, name: row.actor },
  createdAt: row.created_at,
  endedAt: row.ended_at,
  records: row.records,
  recordCount: row.record_count,
  error: row.error,
});

/** Asks for the preview of an undo, which writes nothing to a CRM. Returns its id. */
export async function requestPreview(tx: Tx, selection: Selection, actor: AuditActor, now: number): Promise<number> {
  const { id } = await tx
    .insertInto('undo_run')
    .values({
      selection: JSON.stringify(selection),
      stage: 'preview',
      state: 'waiting',
      actor_kind: actor.kind,
      actor: actor.name,
      created_at: now,
      records: 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await mark(tx, UNDO_QUEUE, [String(id)], now);
  return id;
}

/** Asks for the undo that was previewed. False where it is not at that point: it was begun, or cancelled, already. */
export async function requestUndo(tx: Tx, id: number, actor: AuditActor, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('undo_run')
    .set({ stage: 'undo', state: 'waiting', records: 0, ended_at: null, actor_kind: actor.kind, actor: actor.name })
    .where('id', '=', id)
    .where('stage', '=', 'preview')
    .where('state', '=', 'done')
    .returning('selection')
    .executeTakeFirst();
  if (row === undefined) return false;
  await tx.deleteFrom('undo_result').where('run', '=', id).execute();
  await mark(tx, UNDO_QUEUE, [String(id)], now);
  await audit(tx, actor, { id, selection: JSON.parse(row.selection), result: 'begun' }, now);
  return true;
}

/** Stops an undo before its next records. False where it had ended already. What it has restored stays restored. */
export async function cancelUndo(tx: Tx, id: number, actor: AuditActor, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('undo_run')
    .set({ state: 'cancelled', ended_at: now })
    .where('id', '=', id)
    .where('state', 'in', ['waiting', 'running'])
    .returning(['selection', 'records', 'stage'])
    .executeTakeFirst();
  if (row?.stage === 'undo')
    await audit(
      tx,
      actor,
      { id, selection: JSON.parse(row.selection), result: `cancelled after ${row.records} records` },
      now,
    );
  return row !== undefined;
}

/** Begins, or goes on with, what waits; undefined where nothing is to be done. */
export async function beginUndo(tx: Tx, id: number): Promise<StoredUndo | undefined> {
  const row = await tx
    .updateTable('undo_run')
    .set({ state: 'running' })
    .where('id', '=', id)
    .where('state', 'in', ['waiting', 'running'])
    .returningAll()
    .executeTakeFirst();
  // A preview says how things are now; of an undo, what it restored before a restart stays.
  if (row?.stage === 'preview') await tx.deleteFrom('undo_result').where('run', '=', id).execute();
  return row && storedUndo(row);
}

/**
 * Stores what became of some properties. What an earlier try of this undo restored stays so, whatever the next one finds.
 * False where the undo was cancelled.
 */
export async function storeResults(
  tx: Tx,
  id: number,
  results: readonly Undone[],
  { records, of }: UndoProgress,
): Promise<boolean> {
  const row = await tx
    .updateTable('undo_run')
    .set({ records, record_count: of })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return false;
  const rows = results.map(({ provider, record, property, entity, kind, from, to, reason = null }) => ({
    provider,
    record_id: record,
    property,
    entity,
    kind,
    from_value: JSON.stringify(from),
    to_value: to === undefined ? null : JSON.stringify(to),
    reason,
  }));
  const column = (name: string) => sql`each.value ->> ${sql.lit(name)}`;
  const columns = ['provider', 'record_id', 'property', 'entity', 'kind', 'from_value', 'to_value', 'reason'];
  await sql`insert into undo_result (run, ${sql.join(columns.map((name) => sql.ref(name)))})
    select cast(${id} as bigint), ${sql.join(columns.map(column))} from ${eachRow(tx, rows)} where true
    on conflict (run, provider, record_id, property) do update set
      kind = excluded.kind, from_value = excluded.from_value, to_value = excluded.to_value, reason = excluded.reason
      where undo_result.kind <> 'restored'`.execute(tx);
  return true;
}

/** Ends an undo that ran; the audit tells what came of it. Nothing happens to one that was cancelled meanwhile. */
export async function endUndo(tx: Tx, undo: StoredUndo, error: string | null, now: number): Promise<void> {
  const row = await tx
    .updateTable('undo_run')
    .set({ state: error === null ? 'done' : 'failed', ended_at: now, error })
    .where('id', '=', undo.id)
    .where('state', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  if (row === undefined || undo.stage === 'preview') return;
  const counts = await countResults(tx, undo.id);
  const detail = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  const result = [error === null ? 'done' : `failed: ${error}`, detail].filter((part) => part !== '').join('; ');
  await audit(tx, undo.actor, { id: undo.id, selection: undo.selection, result }, now);
}

const audit = (
  tx: Tx,
  actor: AuditActor,
  { id, selection, result }: { readonly id: number; readonly selection: Selection; readonly result: string },
  now: number,
): Promise<void> =>
  recordAudit(
    tx,
    { actor, via: 'page', action: 'undo.run', subject: String(id), detail: { ...selection }, result },
    now,
  );

/** One undo; undefined where there is none of that id. */
export async function readUndo(db: Db, id: number): Promise<StoredUndo | undefined> {
  const row = await db.selectFrom('undo_run').selectAll().where('id', '=', id).executeTakeFirst();
  return row && storedUndo(row);
}

/** The newest undoes first. */
export async function listUndoes(db: Db, limit: number): Promise<readonly StoredUndo[]> {
  return (await db.selectFrom('undo_run').selectAll().orderBy('id', 'desc').limit(limit).execute()).map(storedUndo);
}

/** How many properties came to what, the most first. */
export async function countResults(db: Db, id: number): Promise<ReadonlyMap<Undone['kind'], number>> {
  const rows = await db
    .selectFrom('undo_result')
    .select(['kind', ({ fn }) => fn.countAll<number>().as('count')])
    .where('run', '=', id)
    .groupBy('kind')
    .orderBy('count', 'desc')
    .orderBy('kind')
    .execute();
  // We wrote the kinds.
  return new Map(rows.map(({ kind, count }) => [kind as Undone['kind'], Number(count)]));
}

/** What became of properties: those that a person should look at first. */
export async function readResults(db: Db, id: number, limit: number): Promise<readonly Undone[]> {
  const rows = await db
    .selectFrom('undo_result')
    .selectAll()
    .where('run', '=', id)
    .orderBy(sql`case kind when 'restored' then 1 when 'nothing' then 2 when 'undone' then 2 else 0 end`)
    .orderBy('provider')
    .orderBy('record_id')
    .orderBy('property')
    .limit(limit)
    .execute();
  const value = (text: string | null): PropertyValue => (text === null ? null : JSON.parse(text));
  return rows.map(({ provider, record_id: record, property, entity, kind, from_value, to_value, reason }) => ({
    provider,
    record,
    property,
    entity,
    kind: kind as Undone['kind'],
    from: value(from_value),
    ...(to_value !== null && { to: value(to_value) }),
    ...(reason !== null && { reason }),
  }));
}

/** Deletes undoes that were asked for more than 90 days ago; one step. True where more may be left. */
export async function deleteUndoes(tx: Tx, now: number, step: number): Promise<boolean> {
  const old = await tx
    .selectFrom('undo_run')
    .select('id')
    .where('created_at', '<', now - KEPT_DAYS * DAY_MS)
    .limit(1)
    .executeTakeFirst();
  if (old === undefined) return false;
  const some = tx.selectFrom('undo_result').select('record_id').where('run', '=', old.id).limit(step);
  const { numDeletedRows } = await tx
    .deleteFrom('undo_result')
    .where('run', '=', old.id)
    .where('record_id', 'in', some)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) await tx.deleteFrom('undo_run').where('id', '=', old.id).execute();
  return true;
}
