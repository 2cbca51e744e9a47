/** Executes runs in the daemon, one after the other, and resumes them after a restart. */
import { errorText } from '../../protocol/text/error-text.ts';
import type { Store, Tx } from '../../store/store.ts';
import { type Claim, held, settle } from '../lanes/lanes.ts';
import { countItems } from './run-items.ts';
import { auditRun, beginRun, endRun, type RunProgress, type RunTask, type StoredRun, storeProgress } from './runs.ts';

export interface TaskWork<Input> {
  readonly task: RunTask<Input>;
  /** Executes the current stage. It may end in any way after the run was cancelled. */
  work(run: StoredRun<Input>, follow: RunFollower): Promise<void>;
}

export interface RunFollower {
  /** Aborted if the daemon stops, or once a step finds that the run was cancelled or taken over. */
  readonly signal: AbortSignal;
  /**
   * Stores the progress together with what `store` stores. False, without `store`, if the run was cancelled, or if this
   * process froze and another one took the run over.
   */
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
    const begin = (tx: Tx) => beginRun(tx, task, Number(claim.key), now());
    const run = await store.write(async (tx) => ((await isOurs(tx, claim)) ? begin(tx) : undefined));
    const error = run === undefined ? null : await failureOf(store, { run, claim }, work, signal);
    await store.write(async (tx) => {
      if (!(await settle(tx, claim, { kind: 'done' })) || run === undefined) return;
      if (!(await endRun(tx, run.id, error, now())) || run.stage !== 'run') return;
      const outcome = await (task.outcome === undefined ? itemCounts(tx, run.id) : task.outcome(tx, run));
      const result = [error === null ? 'done' : `failed: ${error}`, outcome].filter((part) => part !== '').join('; ');
      await auditRun(tx, task, { ...run, result }, now());
    });
  }
}

/** Whether no other process took the run over while this one froze. */
const isOurs = async (tx: Tx, claim: Claim): Promise<boolean> => (await held(tx, [claim])).has(claim.key);

const itemCounts = async (tx: Tx, id: number): Promise<string> =>
  [...(await countItems(tx, id))].map(([kind, count]) => `${count} ${kind}`).join(', ');

/** Why the work failed; null if it is done, was cancelled or was taken over. */
async function failureOf<I>(
  store: Store,
  { run, claim }: { readonly run: StoredRun<I>; readonly claim: Claim },
  work: TaskWork<I>['work'],
  signal: AbortSignal,
): Promise<string | null> {
  const ended = new AbortController();
  const step: RunFollower['step'] = async (progress, also) => {
    const goesOn = await store.write(async (tx) => {
      const isRunning = (await isOurs(tx, claim)) && (await storeProgress(tx, run.id, progress));
      if (isRunning) await also?.(tx);
      return isRunning;
    });
    if (!goesOn) ended.abort();
    return goesOn;
  };
  try {
    await work(run, { signal: AbortSignal.any([signal, ended.signal]), step });
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return ended.signal.aborted ? null : errorText(error);
  }
}
