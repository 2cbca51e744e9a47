/** Periodic tasks, each a lane, and those that every store needs. */
import { trimQuarantine } from '../store/quarantine.ts';
import type { Store, Tx } from '../store/store.ts';
import { type Claim, mark, settle } from './lanes/lanes.ts';
import { deleteAudit } from './operators/audit.ts';
import { deleteEndedSessions } from './operators/sessions.ts';
import { keptFrom, RETENTION, type Retention } from './retention.ts';
import { sampleSize } from './store-size.ts';

export interface Task<D> {
  readonly everyMs: number;
  run(deps: D, signal: AbortSignal): Promise<void>;
}

export type Tasks<D> = Readonly<Record<string, Task<D>>>;

export interface TaskDeps {
  readonly store: Store;
  readonly now: () => number;
}

export interface StoreTaskDeps extends TaskDeps {
  /** Defaults to {@link RETENTION}. */
  readonly retention?: Retention;
}

/** The tasks of a store while a daemon runs on it. */
export const STORE_TASKS: Tasks<StoreTaskDeps> = {
  quarantine: { everyMs: 3_600_000, run: ({ store }) => store.write(trimQuarantine) },
  checkpoint: { everyMs: 60_000, run: ({ store }) => store.checkpoint() },
  sessions: { everyMs: 3_600_000, run: ({ store, now }) => store.write((tx) => deleteEndedSessions(tx, now())) },
  audit: {
    everyMs: 3_600_000,
    run: ({ store, now, retention = RETENTION }) =>
      store.write((tx) => deleteAudit(tx, keptFrom(now(), retention.audit))),
  },
  answers: {
    everyMs: 3_600_000,
    async run({ store, now, retention = RETENTION }) {
      const before = keptFrom(now(), retention.runs);
      await store.write((tx) => tx.deleteFrom('review_answer').where('at', '<', before).execute());
    },
  },
  size: { everyMs: 3_600_000, run: ({ store, now }) => sampleSize(store, now()) },
};

/** Makes every task's lane due. */
export async function seedTasks(tx: Tx, queue: string, tasks: Tasks<never>, now: number): Promise<void> {
  await mark(tx, queue, Object.keys(tasks), now);
}

/** Runs the tasks that the claims name and schedules each again. A lane of another version ends. */
export async function runTasks<D extends TaskDeps>(
  deps: D,
  tasks: Tasks<D>,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  for (const claim of claims) {
    const task = tasks[claim.key];
    await task?.run(deps, signal);
    const next = task && ({ kind: 'again', at: deps.now() + task.everyMs, fresh: true } as const);
    await deps.store.write((tx) => settle(tx, claim, next ?? { kind: 'done' }));
  }
}

/** One step of a walk: the key of its last row, and whether any row was old enough. */
export interface Walked<K = number> {
  readonly last: K;
  readonly found: boolean;
}

/** Processes the rows after `after`, in the order of the key; undefined if none follow. */
export type WalkStep<K> = (tx: Tx, after: K) => Promise<Walked<K> | undefined>;

/**
 * Steps without an old row that end a walk. Rows come in the order of their times, so one would do, but rows written
 * while the clock was ahead must not hide those that follow.
 */
const YOUNG_STEPS = 20;

/** Summarises a step that read these rows; undefined without rows. Rows before `before` are old. */
export function walked<K>(
  rows: readonly { readonly key: K; readonly at: number }[],
  before: number,
): Walked<K> | undefined {
  const last = rows.at(-1);
  return last === undefined ? undefined : { last: last.key, found: rows.some(({ at }) => at < before) };
}

/** Walks a table from the key after `start`, one transaction per step, until only young rows follow. */
export async function inSteps<K>(store: Store, signal: AbortSignal, start: K, step: WalkStep<K>): Promise<void> {
  let after = start;
  for (let young = 0; young < YOUNG_STEPS && !signal.aborted; ) {
    const from = after;
    const walked = await store.write((tx) => step(tx, from));
    if (walked === undefined) return;
    after = walked.last;
    young = walked.found ? 0 : young + 1;
    // SQLite works on the main thread: let waiting requests go first.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
