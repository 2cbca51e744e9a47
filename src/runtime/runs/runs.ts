/** Runs: work of the daemon that a person requests. A run is previewed, then executed, and can be cancelled. */
import type { Selectable } from 'kysely';
import { redactTexts } from '../../store/erasure/erasures.ts';
import type { RunTable } from '../../store/runtime-schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import { mark } from '../lanes/lanes.ts';
import { type AuditEntry, recordAudit } from '../operators/audit.ts';
import type { Role } from '../operators/operators.ts';
import { deleteItems } from './run-items.ts';

/** A kind of run: how the daemon executes it, and how the audit names it. */
export interface RunTask<Input> {
  /** The queue of its lanes; their key is the run's id. */
  readonly queue: string;
  /** The unit of its progress. */
  readonly counts: 'records' | 'entries' | 'deliveries';
  /** The lowest role that may confirm it; `operator` by default. */
  readonly role?: Role;
  /** Kinds of items that need no review; they are listed last, in this order. */
  readonly fine: readonly string[];
  /** Whether the input came with its items: a preview then keeps them. */
  hasItems?(input: Input): boolean;
  /** Whether the preview is the whole work: the audit then records the preview. */
  isPreviewOnly?(input: Input): boolean;
  /** The audit's action, subject and details. */
  audit(run: AskedRun<Input>): Pick<AuditEntry, 'action' | 'subject' | 'detail'>;
  /** Prepares a confirmed run, in the same transaction. Throws {@link RunRefused}. */
  confirm?(tx: Tx, run: StoredRun<Input>, now: number): Promise<void>;
  /** Ends work of a cancelled run, in the same transaction. */
  cancel?(tx: Tx, run: StoredRun<Input>, now: number): Promise<void>;
  /** The result for the audit; by default the number of items by kind. */
  outcome?(tx: Tx, run: StoredRun<Input>): Promise<string>;
}

type AskedRun<Input> = Pick<StoredRun<Input>, 'id' | 'input'>;

/** Who requests a step of a run, and by page, command or API. */
export type RunCaller = Pick<AuditEntry, 'actor' | 'via'>;

/** The run cannot be confirmed: it has no preview, or its subject has changed. */
export class RunRefused extends Error {
  override readonly name = 'RunRefused';
}

export interface StoredRun<Input> extends RunCaller, RunProgress {
  readonly id: number;
  /** The queue of its task. */
  readonly task: string;
  readonly input: Input;
  readonly stage: RunTable['stage'];
  readonly state: RunTable['state'];
  readonly createdAt: number;
  /** When its preview ended; null before it is confirmed. */
  readonly previewedAt: number | null;
  readonly confirmedAt: number | null;
  /** When the daemon began its stage. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly error: string | null;
}

export interface RunProgress {
  readonly done: number;
  readonly total: number | null;
}

/** The input is what its task stored. */
const storedRun = <I>(row: Selectable<RunTable>): StoredRun<I> => ({
  id: row.id,
  task: row.task,
  input: JSON.parse(row.input),
  stage: row.stage,
  state: row.state,
  actor: { kind: row.actor_kind, name: row.actor },
  via: row.via,
  createdAt: row.created_at,
  previewedAt: row.previewed_at,
  confirmedAt: row.confirmed_at,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  done: row.done,
  total: row.total,
  error: row.error,
});

export const isRunOf = <I>({ queue }: RunTask<I>, run: StoredRun<unknown>): run is StoredRun<I> => run.task === queue;

/** Requests a preview, which changes nothing. Returns the id of the run. */
export async function requestPreview<I>(
  tx: Tx,
  task: RunTask<I>,
  { input, actor, via }: RunCaller & { readonly input: I },
  now: number,
): Promise<number> {
  const { queue } = task;
  const { id } = await tx
    .insertInto('run')
    .values({
      task: queue,
      input: JSON.stringify(input),
      stage: 'preview',
      state: 'waiting',
      actor_kind: actor.kind,
      actor: actor.name,
      via,
      created_at: now,
      done: 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await mark(tx, queue, [String(id)], now);
  if (task.isPreviewOnly?.(input) === true) await auditRun(tx, task, { id, input, actor, via, result: 'begun' }, now);
  return id;
}

/** Starts a previewed run, with an entry in the audit. Throws {@link RunRefused}. */
export async function confirmRun<I>(
  tx: Tx,
  task: RunTask<I>,
  { id, actor, via }: RunCaller & { readonly id: number },
  now: number,
): Promise<StoredRun<I>> {
  const row = await tx
    .updateTable('run')
    .set(({ ref }) => ({
      stage: 'run',
      state: 'waiting',
      done: 0,
      previewed_at: ref('ended_at'),
      confirmed_at: now,
      started_at: null,
      ended_at: null,
      actor_kind: actor.kind,
      actor: actor.name,
      via,
    }))
    .where('id', '=', id)
    .where('task', '=', task.queue)
    .where('stage', '=', 'preview')
    .where('state', '=', 'done')
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw new RunRefused('the run has no preview that waits for a confirmation');
  const run = storedRun<I>(row);
  await task.confirm?.(tx, run, now);
  await mark(tx, task.queue, [String(id)], now);
  const result = run.total === null ? 'begun' : `begun for ${run.total} ${task.counts}`;
  await auditRun(tx, task, { ...run, result }, now);
  return run;
}

/**
 * Stops a run before its next step; false if it has ended. Finished work stays. Adds an entry to the audit, except for
 * a preview.
 */
export async function cancelRun<I>(
  tx: Tx,
  task: RunTask<I>,
  { id, actor, via }: RunCaller & { readonly id: number },
  now: number,
): Promise<boolean> {
  const row = await tx
    .updateTable('run')
    .set({ state: 'cancelled', ended_at: now })
    .where('id', '=', id)
    .where('task', '=', task.queue)
    .where('state', 'in', ['waiting', 'running'])
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return false;
  const run = storedRun<I>(row);
  await task.cancel?.(tx, run, now);
  if (run.stage === 'run' || task.isPreviewOnly?.(run.input) === true)
    await auditRun(tx, task, { ...run, actor, via, result: `cancelled after ${run.done} ${task.counts}` }, now);
  return true;
}

/** Records a step of a run in the audit. */
export const auditRun = <I>(
  tx: Tx,
  task: RunTask<I>,
  { actor, via, result, ...run }: AskedRun<I> & RunCaller & Pick<AuditEntry, 'result'>,
  now: number,
): Promise<void> => recordAudit(tx, { actor, via, ...task.audit(run), result }, now);

/** Begins or resumes a run; undefined if nothing is to be done. A preview begins again, to show the current state. */
export async function beginRun<I>(
  tx: Tx,
  task: RunTask<I>,
  id: number,
  now: number,
): Promise<StoredRun<I> | undefined> {
  const row = await tx
    .updateTable('run')
    .set(({ fn, ref, val }) => ({ state: 'running', started_at: fn.coalesce(ref('started_at'), val(now)) }))
    .where('id', '=', id)
    .where('task', '=', task.queue)
    .where('state', 'in', ['waiting', 'running'])
    .returningAll()
    .executeTakeFirst();
  const run = row && storedRun<I>(row);
  if (run?.stage === 'preview' && task.hasItems?.(run.input) !== true) await deleteItems(tx, id);
  return run;
}

/** The speed of a run's stage and its remaining time; undefined while it is too early to tell. */
export function rateOf(
  { state, startedAt, endedAt, done, total }: StoredRun<unknown>,
  now: number,
): { readonly perMinute: number; readonly leftMs: number | undefined } | undefined {
  const tookMs = (endedAt ?? now) - (startedAt ?? now);
  // Too short to measure.
  if (done === 0 || tookMs < SHORTEST_MS) return undefined;
  const leftMs = state === 'running' && total !== null ? (Math.max(0, total - done) * tookMs) / done : undefined;
  return { perMinute: (done * MINUTE_MS) / tookMs, leftMs };
}

const MINUTE_MS = 60_000;
const SHORTEST_MS = 1_000;

/** Stores the progress; false if the run was cancelled, to stop the work. */
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

export async function findRun(db: Db, id: number): Promise<StoredRun<unknown> | undefined> {
  const row = await db.selectFrom('run').selectAll().where('id', '=', id).executeTakeFirst();
  return row && storedRun(row);
}

export interface RunFilter {
  readonly task?: string | undefined;
  readonly state?: RunTable['state'] | undefined;
  /** Only older runs, for paging: the id of the previous page's last run. */
  readonly before?: number | undefined;
}

/** Newest first. */
export async function listRuns(
  db: Db,
  { task, state, before }: RunFilter,
  limit: number,
): Promise<readonly StoredRun<unknown>[]> {
  const rows = await db
    .selectFrom('run')
    .selectAll()
    .$if(task !== undefined, (query) => query.where('task', '=', task ?? ''))
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'done'))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => storedRun(row));
}

export async function listOpenRuns<I>(db: Db, { queue }: RunTask<I>): Promise<readonly StoredRun<I>[]> {
  const rows = await db
    .selectFrom('run')
    .selectAll()
    .where('task', '=', queue)
    .where('state', 'in', ['waiting', 'running'])
    .orderBy('id')
    .execute();
  return rows.map((row) => storedRun<I>(row));
}

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
