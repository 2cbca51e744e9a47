/** Executes runs in the daemon, one after the other, and resumes them after a restart. */
import { errorText } from '../../protocol/text/error-text.ts';
import type { Store, Tx } from '../../store/store.ts';
import { type Claim, settle } from '../lanes/lanes.ts';
import { beginRun, endRun, type RunTask, type StoredRun } from './runs.ts';

export interface TaskWork<Input> {
  readonly task: RunTask<Input>;
  /** Executes the current stage; returns early if the run was cancelled. */
  work(run: StoredRun<Input>, signal: AbortSignal): Promise<void>;
  /** Audits the result of an ended run; not called for previews and cancelled runs. */
  audit(tx: Tx, run: StoredRun<Input>, error: string | null): Promise<void>;
}

/** Executes the claimed runs. Throws if the daemon stops. */
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
