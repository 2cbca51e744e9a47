/** Does the runs of backfills: in the daemon, or in a command where none works on them. */
import { readIndexState } from '../../match/index/state.ts';
import { storeItems } from '../../runtime/runs/run-items.ts';
import type { RunProgress } from '../../runtime/runs/runs.ts';
import type { RunFollower, TaskWork } from '../../runtime/runs/work.ts';
import type { Crm } from '../crm/crm.ts';
import { runBackfill } from './backfill.ts';
import { matchCrm } from './match-crm.ts';
import type { BackfillOptions } from './options.ts';
import { BACKFILL, type BackfillJob, type BackfillRequest, countToLink, previewItem } from './plan/backfill-task.ts';
import { previewPlan } from './preview.ts';
import { type BackfillDeps, BackfillError, type BackfillStep } from './rows/backfill-context.ts';
import { planRevision, readRun } from './rows/progress.ts';

export interface BackfillWorkDeps extends Omit<BackfillDeps, 'crm' | 'report'> {
  /** Sees each step. */
  readonly watch?: BackfillDeps['report'];
}

/** How often the progress is stored. */
const STEP_MS = 1_000;

export const backfillWork = (deps: BackfillWorkDeps, crms: readonly Crm[]): TaskWork<BackfillRequest> => ({
  task: BACKFILL,
  async work(stored, { signal, step }) {
    const { provider, kind, revision, goesOn = false, trust, sendUpdate } = stored.input;
    const crm = crms.find(({ name }) => name === provider);
    if (crm === undefined) throw new BackfillError(`no connection ${provider} is configured`);
    const progress = openProgress(stored);
    const report = (step: BackfillStep): void => {
      progress.report(step);
      deps.watch?.(step);
    };
    const opened: BackfillDeps = { ...deps, crm, report };
    const ended = new AbortController();
    const following = follow(deps.wait, ended.signal, () => step(progress.read()));
    try {
      if (kind === 'apply' && stored.stage === 'preview')
        return await preview(opened, stored, { step, report: progress.report, signal });
      const options = { run: stored.id, revision, goesOn };
      if (kind === 'match') await match(opened, { ...options, kind: 'scan' }, signal);
      // A confirmed plan has its options in the store.
      else await runBackfill(opened, { ...options, kind, ...(kind === 'scan' && { trust, sendUpdate }) }, signal);
      await step(progress.read());
    } finally {
      ended.abort();
      await following;
    }
  },
});

/** Stores the progress meanwhile, and finds out so whether the run was cancelled. */
async function follow(wait: BackfillDeps['wait'], ended: AbortSignal, step: () => Promise<boolean>): Promise<void> {
  do await wait(STEP_MS, ended);
  while (!ended.aborted && (await step()));
}

async function match(deps: BackfillDeps, options: BackfillOptions, signal: AbortSignal): Promise<void> {
  if ((await readIndexState(deps.store.db))?.phase !== 'ready')
    throw new BackfillError('there is no finished company index: make it with cvrsync match index');
  await matchCrm(deps, options, signal);
}

async function preview(
  { store, crm: { name } }: BackfillDeps,
  { id, input }: BackfillJob,
  { step, report, signal }: RunFollower & Pick<BackfillDeps, 'report'>,
): Promise<void> {
  const found = await previewPlan(store.db, name, report, signal);
  const count = countToLink(found, input);
  await step({ done: count, total: count }, async (tx) => {
    if (planRevision(await readRun(tx, name)) !== input.revision)
      throw new BackfillError(`the plan of ${name} is another one by now: look at it, then ask again`);
    await storeItems(tx, id, [previewItem(found)]);
  });
}

const progressOf = (total: number, left: number): RunProgress => ({ done: Math.max(0, total - left), total });

/** Counts the records that are done, by the steps of the backfill. */
function openProgress({ input, stage, done, total }: Pick<BackfillJob, 'input' | 'stage' | 'done' | 'total'>): {
  report(step: BackfillStep): void;
  read(): RunProgress;
} {
  const isApply = input.kind === 'apply' && stage === 'run';
  let current: RunProgress = isApply ? { done, total } : { done: 0, total: null };
  return {
    read: () => current,
    report({ phase, scanned, matched, toLink, linked = 0 }) {
      if (matched !== undefined) current = matched;
      else if (!isApply) current = { done: scanned ?? current.done, total: null };
      else if (toLink !== undefined) current = progressOf(current.total ?? toLink, toLink);
      else if (phase === 'confirm') current = { ...current, done: current.total ?? current.done };
      else current = { ...current, done: current.done + linked };
    },
  };
}
