/** Runs: work of the daemon that a person starts on a page. A run is previewed, then executed, and can be cancelled. */
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import { eachRow } from '../../store/each.ts';
import { redactTexts } from '../../store/erasure/erasures.ts';
import type { RunTable } from '../../store/runtime-schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import { mark } from '../lanes/lanes.ts';
import type { AuditActor } from '../operators/audit.ts';

export interface RunTask<Input> {
  /** Queue of its lanes; their key is the run's id. */
  readonly queue: string;
  readonly readInput: (text: string) => Input;
  /** Whether the input came with its items: then a preview keeps them. */
  readonly hasItems?: (input: Input) => boolean;
}

export interface StoredRun<Input> {
  readonly id: number;
  readonly input: Input;
  readonly stage: RunTable['stage'];
  readonly state: RunTable['state'];
  readonly actor: AuditActor;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly done: number;
  readonly total: number | null;
  readonly error: string | null;
}

/** The result for one thing, or the expected one in a preview. */
export interface RunItem {
  readonly key: string;
  readonly kind: string;
  readonly detail: string;
}

interface RunProgress {
  readonly done: number;
  readonly total: number | null;
}

const storedRun = <I>({ readInput }: RunTask<I>, row: Selectable<RunTable>): StoredRun<I> => ({
  id: row.id,
  input: readInput(row.input),
  stage: row.stage,
  state: row.state,
  actor: { kind: row.actor_kind, name: row.actor },
  createdAt: row.created_at,
  endedAt: row.ended_at,
  done: row.done,
  total: row.total,
  error: row.error,
});

/** Requests a preview, which changes nothing. Returns the id of the run. */
export async function requestPreview<I>(
  tx: Tx,
  { queue }: RunTask<I>,
  { input, actor }: { readonly input: I; readonly actor: AuditActor },
  now: number,
): Promise<number> {
  const { id } = await tx
    .insertInto('run')
    .values({
      task: queue,
      input: JSON.stringify(input),
      stage: 'preview',
      state: 'waiting',
      actor_kind: actor.kind,
      actor: actor.name,
      created_at: now,
      done: 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await mark(tx, queue, [String(id)], now);
  return id;
}

export interface RunRef {
  readonly id: number;
  readonly actor: AuditActor;
}

/** Starts a previewed run; undefined if it was started or cancelled already. */
export async function requestRun<I>(
  tx: Tx,
  task: RunTask<I>,
  { id, actor }: RunRef,
  now: number,
): Promise<StoredRun<I> | undefined> {
  const row = await tx
    .updateTable('run')
    .set({ stage: 'run', state: 'waiting', done: 0, ended_at: null, actor_kind: actor.kind, actor: actor.name })
    .where('id', '=', id)
    .where('task', '=', task.queue)
    .where('stage', '=', 'preview')
    .where('state', '=', 'done')
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  await mark(tx, task.queue, [String(id)], now);
  return storedRun(task, row);
}

/** Stops a run before its next step; undefined if it has ended. Finished work stays. */
export async function cancelRun<I>(
  tx: Tx,
  task: RunTask<I>,
  id: number,
  now: number,
): Promise<StoredRun<I> | undefined> {
  const row = await tx
    .updateTable('run')
    .set({ state: 'cancelled', ended_at: now })
    .where('id', '=', id)
    .where('task', '=', task.queue)
    .where('state', 'in', ['waiting', 'running'])
    .returningAll()
    .executeTakeFirst();
  return row && storedRun(task, row);
}

/** Begins or resumes a run; undefined if there is nothing to do. A preview begins again, to show the present state. */
export async function beginRun<I>(tx: Tx, task: RunTask<I>, id: number): Promise<StoredRun<I> | undefined> {
  const row = await tx
    .updateTable('run')
    .set({ state: 'running' })
    .where('id', '=', id)
    .where('task', '=', task.queue)
    .where('state', 'in', ['waiting', 'running'])
    .returningAll()
    .executeTakeFirst();
  const run = row && storedRun(task, row);
  if (run?.stage === 'preview' && task.hasItems?.(run.input) !== true) await deleteItems(tx, id);
  return run;
}

/** Stores the progress; false if the run was cancelled, so that the work stops. */
export async function storeProgress(tx: Tx, id: number, { done, total }: RunProgress): Promise<boolean> {
  const row = await tx
    .updateTable('run')
    .set({ done, total })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores results and replaces earlier ones, except those whose kind is `final`. */
export async function storeItems(tx: Tx, id: number, items: readonly RunItem[], final = ''): Promise<void> {
  const rows = items.map(({ key, kind, detail }) => ({ key, kind, detail }));
  await sql`insert into run_item (run, key, kind, detail)
    select cast(${id} as bigint), each.key, each.kind, each.detail
      from ${eachRow(tx, ['key', 'kind', 'detail'], rows)} where true
    on conflict (run, key) do update set kind = excluded.kind, detail = excluded.detail
      where run_item.kind <> ${final}`.execute(tx);
}

export async function deleteItems(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('run_item').where('run', '=', id).execute();
}

/** Ends a run; false if it was cancelled meanwhile. */
export async function endRun(tx: Tx, id: number, error: string | null, now: number): Promise<boolean> {
  const [redacted = null] = await redactTexts(tx, [error]);
  const row = await tx
    .updateTable('run')
    .set({ state: error === null ? 'done' : 'failed', ended_at: now, error: redacted })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function readRun<I>(db: Db, task: RunTask<I>, id: number): Promise<StoredRun<I> | undefined> {
  const row = await db
    .selectFrom('run')
    .selectAll()
    .where('id', '=', id)
    .where('task', '=', task.queue)
    .executeTakeFirst();
  return row && storedRun(task, row);
}

export async function listRuns<I>(db: Db, task: RunTask<I>, limit: number): Promise<readonly StoredRun<I>[]> {
  const rows = await db
    .selectFrom('run')
    .selectAll()
    .where('task', '=', task.queue)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => storedRun(task, row));
}

export async function listOpenRuns<I>(db: Db, task: RunTask<I>): Promise<readonly StoredRun<I>[]> {
  const rows = await db
    .selectFrom('run')
    .selectAll()
    .where('task', '=', task.queue)
    .where('state', 'in', ['waiting', 'running'])
    .orderBy('id')
    .execute();
  return rows.map((row) => storedRun(task, row));
}

/** Number of items by kind, the most frequent first. */
export async function countItems(db: Db, id: number): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('run_item')
    .select(['kind', ({ fn }) => fn.countAll<number>().as('count')])
    .where('run', '=', id)
    .groupBy('kind')
    .orderBy('count', 'desc')
    .orderBy('kind')
    .execute();
  return new Map(rows.map(({ kind, count }) => [kind, Number(count)]));
}

/** Items by key; those of the kinds in `last` come last. */
export async function readItems(
  db: Db,
  id: number,
  limit: number,
  last: readonly string[] = [],
): Promise<readonly RunItem[]> {
  const rank = sql<number>`case ${sql.join(
    ['', ...last].map((kind, index) => sql`when kind = ${kind} then ${sql.lit(index)}`),
    sql` `,
  )} else 0 end`;
  return db
    .selectFrom('run_item')
    .select(['key', 'kind', 'detail'])
    .where('run', '=', id)
    .orderBy(rank)
    .orderBy('key')
    .limit(limit)
    .execute();
}

export const readItemsOf = (db: Db, id: number, kind: string, limit: number): Promise<readonly RunItem[]> =>
  db
    .selectFrom('run_item')
    .select(['key', 'kind', 'detail'])
    .where('run', '=', id)
    .where('kind', '=', kind)
    .orderBy('key')
    .limit(limit)
    .execute();

/** Deletes runs requested before `before`, one step at a time; true if more may be left. */
export async function deleteRuns(tx: Tx, before: number, step: number): Promise<boolean> {
  const old = await tx.selectFrom('run').select('id').where('created_at', '<', before).limit(1).executeTakeFirst();
  if (old === undefined) return false;
  const some = tx.selectFrom('run_item').select('key').where('run', '=', old.id).limit(step);
  const { numDeletedRows } = await tx
    .deleteFrom('run_item')
    .where('run', '=', old.id)
    .where('key', 'in', some)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) await tx.deleteFrom('run').where('id', '=', old.id).execute();
  return true;
}
