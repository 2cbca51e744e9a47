/** Periodic tasks, each a lane, and those that every store needs. */
import { trimQuarantine } from '../../store/erasure/quarantine.ts';
import type { Store, Tx } from '../../store/store.ts';
import { pruneActivity } from '../activity/activity.ts';
import { type Claim, mark, type Settlement, settleAll } from '../lanes/lanes.ts';
import { deleteEndedSessions } from '../operators/sessions.ts';
import { sampleSize } from '../store-size.ts';
import { type Prune, pruneOlder } from './prune.ts';
import { cutoffOf, RETENTION, type Retention } from './retention.ts';

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
  /** {@link RETENTION} by default. */
  readonly retention?: Retention | undefined;
}

const HOUR_MS = 3_600_000;

/** A task that deletes data older than the retention of its kind, if that has an end. */
export const pruneTask = (kind: keyof Retention, prune: Prune, everyMs = HOUR_MS): Task<StoreTaskDeps> => ({
  everyMs,
  async run({ store, now, retention = RETENTION }, signal) {
    const days = retention[kind];
    if (days !== undefined) await prune(store, signal, cutoffOf(now(), days));
  },
});

/** The tasks of a store while a daemon runs on it. */
export const STORE_TASKS: Tasks<StoreTaskDeps> = {
  quarantine: { everyMs: HOUR_MS, run: ({ store }) => store.write(trimQuarantine) },
  checkpoint: { everyMs: 60_000, run: ({ store }) => store.checkpoint() },
  sessions: { everyMs: HOUR_MS, run: ({ store, now }) => store.write((tx) => deleteEndedSessions(tx, now())) },
  audit: pruneTask('audit', pruneOlder({ table: 'audit', key: 'id', at: 'at' })),
  answers: {
    everyMs: HOUR_MS,
    async run({ store, now, retention = RETENTION }) {
      const before = cutoffOf(now(), retention.runs);
      await store.write((tx) => tx.deleteFrom('review_answer').where('at', '<', before).execute());
    },
  },
  'old-activity': { everyMs: HOUR_MS, run: ({ store, now }) => store.write((tx) => pruneActivity(tx, now())) },
  size: { everyMs: HOUR_MS, run: ({ store, now }) => sampleSize(store, now()) },
};

export async function seedTasks(tx: Tx, queue: string, tasks: Tasks<never>, now: number): Promise<void> {
  await mark(tx, queue, Object.keys(tasks), now);
}

/** The most due tasks that a daemon takes at once: most are quick. */
export const TASK_BATCH = 32;

/** Runs the tasks of the claims, and schedules each again when it ends. A lane of another version ends. */
export async function runTasks<D extends TaskDeps>(
  deps: D,
  tasks: Tasks<D>,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const ended: (readonly [Claim, Settlement])[] = [];
  try {
    for (const claim of claims) {
      const task = tasks[claim.key];
      signal.throwIfAborted();
      await task?.run(deps, signal);
      ended.push([claim, task ? { kind: 'again', at: deps.now() + task.everyMs, fresh: true } : { kind: 'done' }]);
    }
  } finally {
    if (ended.length > 0) await deps.store.write((tx) => settleAll(tx, ended));
  }
}
