/** Tasks that come back after a time, each a lane; and those that belong to the store, whoever works on it. */
import { trimQuarantine } from '../store/quarantine.ts';
import type { Store, Tx } from '../store/store.ts';
import { type Claim, mark, settle } from './lanes.ts';

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

/** What the store's own tasks need: where the size of the write-ahead log is shown. */
export interface StoreTaskDeps extends TaskDeps {
  readonly metrics: { readonly walBytes: { set(bytes: number): void } };
}

/** What a store needs while a daemon runs on it. */
export const STORE_TASKS: Tasks<StoreTaskDeps> = {
  quarantine: { everyMs: 3_600_000, run: ({ store }) => store.write(trimQuarantine) },
  checkpoint: {
    everyMs: 60_000,
    async run({ store, metrics }) {
      const { walBytes } = await store.checkpoint();
      if (walBytes !== undefined) metrics.walBytes.set(walBytes);
    },
  },
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

/** A step of a walk over a table in the order of its key: where it got to, undefined at its end. */
export type Step = (tx: Tx, after: number) => Promise<number | undefined>;

/** Walks to the end, each step a transaction of its own. */
export async function inSteps(store: Store, signal: AbortSignal, step: Step): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined && !signal.aborted; ) {
    const from: number = after;
    after = await store.write((tx) => step(tx, from));
    // SQLite works on the main thread: requests that came in meanwhile go first.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
