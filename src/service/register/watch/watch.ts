/** The worker of the queue `watch`: each source has a lane, and one run at a time. */
import { mark, settle } from '../../../runtime/lanes/lanes.ts';
import { startWorker, type Worker } from '../../../runtime/worker.ts';
import type { Tx } from '../../../store/store.ts';
import type { RegisterSource } from '../source/source.ts';
import { watchCount } from './count-documents.ts';
import { AHEAD, COUNT, WATCH_QUEUE, type WatchDeps } from './ingest-page.ts';
import { LeaseLost, type WatchTask, watchAhead, watchPage } from './watch-page.ts';

export type { WatchDeps } from './ingest-page.ts';

export type WatchTasks = Readonly<Record<string, WatchTask>>;

export interface PolledSource {
  readonly source: RegisterSource;
  readonly pollMs: number;
}

/** The tasks of the sources. They run separately: one that cannot be read does not stop the others. */
export function registerTasks(deps: WatchDeps, sources: readonly PolledSource[]): WatchTasks {
  const counted = sources.find(({ source }) => source.count !== undefined)?.source;
  return {
    ...Object.fromEntries(
      sources.map(({ source, pollMs }): [string, WatchTask] => [
        source.name,
        (claim, signal) => watchPage(deps, source, { claim, signal, pollMs }),
      ]),
    ),
    [AHEAD]: (claim) => watchAhead(deps, claim),
    ...(counted !== undefined && { [COUNT]: (claim, signal) => watchCount(deps, counted, claim, signal) }),
  };
}

/** Makes lanes due, when the service starts or a person asks. */
export const markWatch = (tx: Tx, tasks: WatchTasks, now: number): Promise<void> =>
  mark(tx, WATCH_QUEUE, Object.keys(tasks), now);

/** Runs the tasks of due lanes. A lane without a task ends. */
export function startWatch(
  deps: Pick<WatchDeps, 'store' | 'wakeUp' | 'now' | 'log'> & { readonly leaseMs?: number },
  tasks: WatchTasks,
): Worker {
  const { store, wakeUp, now, log, leaseMs } = deps;
  return startWorker({
    store,
    wakeUp,
    now,
    log,
    queue: WATCH_QUEUE,
    batch: 1,
    concurrency: Math.max(2, Object.keys(tasks).length),
    leaseMs,
    async run(claims, signal) {
      for (const claim of claims) {
        const task = Object.hasOwn(tasks, claim.key) ? tasks[claim.key] : undefined;
        try {
          if (task === undefined) await store.write((tx) => settle(tx, claim, { kind: 'done' }));
          else await task(claim, signal);
        } catch (error) {
          if (!(error instanceof LeaseLost)) throw error;
          log.error({ key: claim.key }, error.message);
        }
      }
    },
  });
}
