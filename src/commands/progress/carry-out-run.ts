/** Follows a run until its stage is over. Where no daemon works on such runs, this process carries it out. */
import { type Daemon, readDaemons } from '../../runtime/daemons.ts';
import { pause } from '../../runtime/limits/pause.ts';
import { findRun, type StoredRun } from '../../runtime/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { CommandContext } from '../cli/context.ts';

const LOOK_MS = 200;
const LOG_EVERY_MS = 5_000;

interface RunCarrier {
  /** Whether this daemon works on such runs. */
  readonly works: (daemon: Daemon) => boolean;
  /** Does the work while workers for such runs are at work in this process. */
  readonly withWorkers: <T>(work: () => Promise<T>) => Promise<T>;
  /** What such a run does, for the log. */
  readonly about: string;
}

/** Waits for the run's stage to end, and returns the run as it then is; returns earlier if the command is stopped. */
export async function carryOutRun(
  context: CommandContext,
  store: Store,
  id: number,
  { works, withWorkers, about }: RunCarrier,
): Promise<StoredRun<unknown>> {
  const work = (): Promise<StoredRun<unknown>> => follow(context, store, id, about);
  return (await readDaemons(store.db, Date.now())).some(works) ? work() : withWorkers(work);
}

async function follow(
  { signal, log }: CommandContext,
  store: Store,
  id: number,
  about: string,
): Promise<StoredRun<unknown>> {
  let loggedAt = Date.now();
  for (;;) {
    const run = await findRun(store.db, id);
    if (run === undefined) throw new Error(`run ${id} was deleted`);
    if ((run.state !== 'waiting' && run.state !== 'running') || signal.aborted) return run;
    if (Date.now() - loggedAt >= LOG_EVERY_MS) {
      loggedAt = Date.now();
      const { done, total, stage } = run;
      log.info({ done, total }, stage === 'preview' ? 'finding out what it would do' : about);
    }
    await pause(LOOK_MS, signal);
  }
}
