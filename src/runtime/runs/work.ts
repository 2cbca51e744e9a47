/** Works on runs: in the daemon, one after the other, and taken up again after a restart. */
import { errorText } from '../../protocol/text/error-text.ts';
import type { Store, Tx } from '../../store/store.ts';
import { type Claim, settle } from '../lanes/lanes.ts';
import { beginRun, endRun, type RunTask, type StoredRun } from './runs.ts';

/** How runs of a task are done. */
export interface TaskWork<Input> {
  readonly task: RunTask<Input>;
  /** Does the stage that the run is at; returns early where it was cancelled. */
  work(run: StoredRun<Input>, signal: AbortSignal): Promise<void>;
  /** Tells the audit what came of a run that has ended. Not called for a preview, nor where it was cancelled. */
  audit(tx: Tx, run: StoredRun<Input>, error: string | null): Promise<void>;
}

/** Does the runs that the claims name. Throws where the daemon stops. */
export async function workOnRuns<I>(
  { store, now }: { readonly store: Store; readonly now: () => number },
  { task, work, audit }: TaskWork<I>,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  for (const claim of claims) {
    const run = await store.write((tx) => beginRun(tx, task, Number(claim.key)));
    const error = run === undefined ? null : await failureOf(() => work(run, signal), signal);
    await store.write(async (tx) => {
      if (!(await settle(tx, claim, { kind: 'done' })) || run === undefined) return;
      if ((await endRun(tx, run.id, error, now())) && run.stage === 'run') await audit(tx, run, error);
    });
  }
}

async function failureOf(work: () => Promise<void>, signal: AbortSignal): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return errorText(error);
  }
}
