/** Executes runs in the daemon, one after the other, and resumes them after a restart. */
import { errorText } from '../../protocol/text/error-text.ts';
import type { Store, Tx } from '../../store/store.ts';
import { type Claim, settle } from '../lanes/lanes.ts';
import { countItems } from './run-items.ts';
import { auditRun, beginRun, endRun, type RunProgress, type RunTask, type StoredRun, storeProgress } from './runs.ts';

export interface TaskWork<Input> {
  readonly task: RunTask<Input>;
  /** Executes the current stage. It may end in any way after the run was cancelled. */
  work(run: StoredRun<Input>, follow: RunFollower): Promise<void>;
}

export interface RunFollower {
  /** Aborted if the daemon stops, or once a step finds that the run was cancelled. */
  readonly signal: AbortSignal;
  /** Stores the progress together with what `store` stores. False, without `store`, if the run was cancelled. */
  step(progress: RunProgress, store?: (tx: Tx) => Promise<void>): Promise<boolean>;
}

/** Executes the claimed runs. Throws if the daemon stops. */
export async function workOnRuns<I>(
  { store, now }: { readonly store: Store; readonly now: () => number },
  { task, work }: TaskWork<I>,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  for (const claim of claims) {
    const run = await store.write((tx) => beginRun(tx, task, Number(claim.key), now()));
    const error = run === undefined ? null : await failureOf(store, run, work, signal);
    await store.write(async (tx) => {
      if (!(await settle(tx, claim, { kind: 'done' })) || run === undefined) return;
      if (!(await endRun(tx, run.id, error, now())) || run.stage !== 'run') return;
      const outcome = await (task.outcome === undefined ? itemCounts(tx, run.id) : task.outcome(tx, run));
      const result = [error === null ? 'done' : `failed: ${error}`, outcome].filter((part) => part !== '').join('; ');
      await auditRun(tx, task, { ...run, result }, now());
    });
  }
}

const itemCounts = async (tx: Tx, id: number): Promise<string> =>
  [...(await countItems(tx, id))].map(([kind, count]) => `${count} ${kind}`).join(', ');

/** Why the work failed; null if it is done, or was cancelled. */
async function failureOf<I>(
  store: Store,
  run: StoredRun<I>,
  work: TaskWork<I>['work'],
  signal: AbortSignal,
): Promise<string | null> {
  const cancelled = new AbortController();
  const step: RunFollower['step'] = async (progress, also) => {
    const goesOn = await store.write(async (tx) => {
      const isRunning = await storeProgress(tx, run.id, progress);
      if (isRunning) await also?.(tx);
      return isRunning;
    });
    if (!goesOn) cancelled.abort();
    return goesOn;
  };
  try {
    await work(run, { signal: AbortSignal.any([signal, cancelled.signal]), step });
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return cancelled.signal.aborted ? null : errorText(error);
  }
}
