/** Scans and applies that people asked for on pages: the backfill of the commands, done by the daemon. */
import { storeItems, storeProgress } from '../../runtime/runs/runs.ts';
import type { TaskWork } from '../../runtime/runs/work.ts';
import type { Crm } from '../crm/crm.ts';
import { runBackfill } from './backfill.ts';
import { auditBackfill, BACKFILL, type BackfillJob, type BackfillRequest, previewItem } from './plan/backfill-runs.ts';
import { previewPlan } from './preview.ts';
import { type BackfillDeps, BackfillError, type BackfillStep } from './rows/backfill-context.ts';
import { outcomeOf } from './rows/outcome.ts';
import { planRevision, readRun } from './rows/progress.ts';

/** What the work stands on beside the connection. */
type BackfillWorkDeps = Omit<BackfillDeps, 'crm' | 'report' | 'isInDaemon'>;

/** How often progress is stored, and a cancel looked for. */
const STEP_MS = 1_000;

/** How a backfill of a page is done. */
export const backfillWork = (deps: BackfillWorkDeps, crms: readonly Crm[]): TaskWork<BackfillRequest> => ({
  task: BACKFILL,
  work: (stored, signal) => workOne(deps, crms, stored, signal),
  async audit(tx, stored, error) {
    const { linked, failed, toLink } = await outcomeOf(tx, stored.input.provider);
    const counts = `${linked} linked, ${failed} failed, ${toLink} left`;
    await auditBackfill(tx, stored, error === null ? `done; ${counts}` : `failed: ${error}; ${counts}`, deps.now());
  },
});

async function workOne(
  deps: BackfillWorkDeps,
  crms: readonly Crm[],
  stored: BackfillJob,
  signal: AbortSignal,
): Promise<void> {
  const { provider, kind, revision, goesOn = false } = stored.input;
  const crm = crms.find(({ name }) => name === provider);
  if (crm === undefined) throw new BackfillError(`no connection ${provider} is configured`);
  const progress = openProgress(stored);
  const inDaemon: BackfillDeps = { ...deps, crm, report: progress.report, isInDaemon: true };
  await followed(deps, { id: stored.id, read: progress.read }, signal, async (stopping) => {
    if (kind === 'apply' && stored.stage === 'preview') return preview(inDaemon, stored, progress.report, stopping);
    const mode = { kind: kind === 'scan' ? 'poll' : 'stored' } as const;
    const page = { run: stored.id, revision, goesOn };
    // A confirmed plan has its options in the store.
    await runBackfill(inDaemon, { mode, page, restart: false, sendUpdate: false }, stopping);
  });
}

async function preview(
  { store, crm: { name } }: BackfillDeps,
  { id, input }: BackfillJob,
  report: BackfillDeps['report'],
  signal: AbortSignal,
): Promise<void> {
  const found = await previewPlan(store.db, name, report, signal);
  await store.write(async (tx) => {
    if (planRevision(await readRun(tx, name)) !== input.revision)
      throw new BackfillError(`the plan of ${name} is another one by now: look at it, then ask again`);
    await storeItems(tx, id, [previewItem(found)]);
  });
}

interface Progress {
  readonly done: number;
  readonly total: number | null;
}

const progressOf = (total: number, left: number): Progress => ({ done: Math.max(0, total - left), total });

/** Counts the records that are done, by the steps of the backfill. */
function openProgress({ input, stage, done, total }: Pick<BackfillJob, 'input' | 'stage' | 'done' | 'total'>): {
  report(step: BackfillStep): void;
  read(): Progress;
} {
  const isApply = input.kind === 'apply' && stage === 'run';
  let current: Progress = isApply ? { done, total } : { done: 0, total: null };
  return {
    read: () => current,
    report({ phase, scanned, toLink, linked = 0 }) {
      if (!isApply) current = { done: scanned ?? current.done, total: null };
      else if (toLink !== undefined) current = progressOf(current.total ?? toLink, toLink);
      else if (phase === 'confirm') current = { ...current, done: current.total ?? current.done };
      else current = { ...current, done: current.done + linked };
    },
  };
}

/** Does the work, stores its progress meanwhile and at its end, and stops it if it is cancelled. */
async function followed(
  { store, wait }: Pick<BackfillWorkDeps, 'store' | 'wait'>,
  { id, read }: { readonly id: number; readonly read: () => Progress },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ended = new AbortController();
  const cancelled = new AbortController();
  const keep = async (): Promise<void> => {
    if (!(await store.write((tx) => storeProgress(tx, id, read())))) cancelled.abort();
  };
  const following = async (): Promise<void> => {
    while (!ended.signal.aborted && !cancelled.signal.aborted) {
      await wait(STEP_MS, ended.signal);
      if (!ended.signal.aborted) await keep();
    }
  };
  const follower = following();
  try {
    await work(AbortSignal.any([signal, cancelled.signal]));
    await keep();
  } catch (error) {
    if (!cancelled.signal.aborted) throw error;
  } finally {
    ended.abort();
    await follower;
  }
}
