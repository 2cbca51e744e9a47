/** Tasks that come back after a time, each a lane; and those that belong to the store, whoever works on it. */
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

/** What every task may use. */
export interface TaskDeps {
  readonly store: Store;
  readonly now: () => number;
}

/** What the store's own tasks need. */
export interface StoreTaskDeps extends TaskDeps {
  /** How long data is kept; as by default where absent. */
  readonly retention?: Retention;
}

/** What a store needs while a daemon runs on it. */
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

/** Runs the tasks the claims name; each is due again after its time. A name from another version ends. */
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

/** What a step of a walk saw: the key of its last row, and whether any of its rows was old enough. */
export interface Walked<K = number> {
  readonly last: K;
  readonly found: boolean;
}

/** A step of a walk over a table in the order of its key; undefined where nothing comes after `after`. */
export type WalkStep<K> = (tx: Tx, after: K) => Promise<Walked<K> | undefined>;

/**
 * Steps without an old row after which a walk ends. Rows come in the order of their times, so one would do; but rows that
 * were written while the clock was ahead must not keep all that follow them for ever.
 */
const YOUNG_STEPS = 20;

/** What a step saw that read these rows, of which those before `before` are old; undefined where it read none. */
export function walked<K>(
  rows: readonly { readonly key: K; readonly at: number }[],
  before: number,
): Walked<K> | undefined {
  const last = rows.at(-1);
  return last === undefined ? undefined : { last: last.key, found: rows.some(({ at }) => at < before) };
}

/** Walks a table from the key after `start`, each step a transaction of its own, until only young rows follow. */
export async function inSteps<K>(store: Store, signal: AbortSignal, start: K, step: WalkStep<K>): Promise<void> {
  let after = start;
  for (let young = 0; young < YOUNG_STEPS && !signal.aborted; ) {
    const from = after;
    const walked = await store.write((tx) => step(tx, from));
    if (walked === undefined) return;
    after = walked.last;
    young = walked.found ? 0 : young + 1;
    // SQLite works on the main thread: requests that came in meanwhile go first.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
