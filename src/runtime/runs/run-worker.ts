/** The worker that executes runs. */
import { startWorker, type Worker, type WorkerOptions } from '../worker.ts';
import { listOpenRuns } from './runs.ts';
import { type TaskWork, workOnRuns } from './work.ts';

/** People confirm a preview soon after they see it, and commands at once. */
const LINGER_MS = 10_000;

/** The options of a run worker. It executes one run at a time by default. */
export type RunWorkerOptions = Pick<WorkerOptions, 'store' | 'wakeUp' | 'now' | 'log' | 'leaseMs'> & {
  readonly concurrency?: number;
  /** Executes only this run. Leaves others to other processes, because somebody may have stopped them. */
  readonly only?: number | undefined;
};

/** Starts the worker that executes the runs of a task. */
export function startRunWorker<I>({ only, concurrency = 1, ...common }: RunWorkerOptions, work: TaskWork<I>): Worker {
  const { task } = work;
  const others = async () =>
    (await listOpenRuns(common.store.db, task))
      .map(({ id }) => id)
      .filter((id) => id !== only)
      .map(String);
  return startWorker({
    ...common,
    queue: task.queue,
    batch: 1,
    concurrency,
    lingerMs: LINGER_MS,
    ...(only !== undefined && { leaves: others }),
    run: (claims, signal) => workOnRuns(common, work, claims, signal),
  });
}
