/** Which run of a connection's backfill goes on, and which starts again. */
import { findRun } from '../../runtime/runs/runs.ts';
import type { Tx } from '../../store/store.ts';
import { refuseLeft } from '../links/left.ts';
import type { BackfillOptions, PageRequest } from './options.ts';
import { digestOf } from './plan/read-plan.ts';
import { type BackfillDeps, BackfillError } from './rows/backfill-context.ts';
import {
  type BackfillProgress,
  freshRun,
  isApplying,
  isScanning,
  lockRun,
  newOwner,
  planRevision,
  putRun,
} from './rows/progress.ts';

/**
 * Continues the run of the connection, or begins one; it is ours from now on. Refuses a new scan while a plan is only partly
 * applied, and one that would forget what people edited.
 */
export async function begin({ store, crm, now }: BackfillDeps, options: BackfillOptions): Promise<BackfillProgress> {
  const { mode, restart, page, sendUpdate, writesNumber = false } = options;
  const digest = mode.kind === 'file' ? await digestOf(mode.file) : undefined;
  const chosen = { trust: options.trust ?? 'crm', sendUpdate, match: crm.match ?? '', writesNumber };
  const anew = freshRun(newOwner(), chosen, now());
  return store.write(async (tx) => {
    await refuseLeft(tx, crm.name);
    const stored = await lockRun(tx, crm.name);
    await needRunning(tx, page);
    const before = restart ? undefined : stored;
    let run = anew;
    if (page !== undefined) run = runOfPage(crm.name, page, stored, mode.kind === 'stored' ? undefined : anew);
    else if (before !== undefined && digest !== undefined) run = runOfPlan(digest, before, anew);
    else if (before !== undefined) run = runOfScan(crm.name, mode.kind === 'apply', before, anew);
    const { page: _, ...rest } = run;
    const { trust = run.trust } = options;
    const taken: BackfillProgress = {
      ...rest,
      owner: anew.owner,
      trust,
      sendUpdate: run.sendUpdate || sendUpdate,
      ...(page !== undefined && { page: page.run }),
    };
    await putRun(tx, crm.name, taken, now());
    return taken;
  });
}

/** A cancelled run must not forget the plan. */
async function needRunning(tx: Tx, page: PageRequest | undefined): Promise<void> {
  if (page !== undefined && (await findRun(tx, page.run))?.state !== 'running')
    throw new BackfillError('the run was cancelled');
}

/** The run that a page began, or begins where the plan is still the one that was seen; a confirmed plan is begun already. */
function runOfPage(
  provider: string,
  { run, revision, goesOn }: PageRequest,
  before: BackfillProgress | undefined,
  anew: BackfillProgress | undefined,
): BackfillProgress {
  if (before?.page === run) return before;
  if (anew === undefined || planRevision(before) !== revision)
    throw new BackfillError(`the plan of ${provider} is another one by now: look at it, then ask again`);
  return goesOn && before !== undefined && isScanning(before.phase) && before.match === anew.match ? before : anew;
}

/** The run that applies a plan file: the one that has begun with it, or a new one on the last scan. */
function runOfPlan(file: string, before: BackfillProgress, anew: BackfillProgress): BackfillProgress {
  if (before.file === file && isApplying(before.phase)) return before;
  // A plan is applied with the options that it was made with; those of another plan do not count.
  const made = before.phase === 'planned' ? { trust: before.trust, sendUpdate: before.sendUpdate } : {};
  const { end, scanned, match } = before;
  return { ...anew, ...made, end, scanned, match, file, phase: 'import' };
}

/** The run that scans, or applies its own scan. Throws if a plan is only partly applied. */
function runOfScan(
  provider: string,
  applies: boolean,
  before: BackfillProgress,
  anew: BackfillProgress,
): BackfillProgress {
  // A scan by another property would find other numbers.
  if (isScanning(before.phase)) return before.match === anew.match ? before : anew;
  if (before.phase === 'planned' && (before.edits ?? 0) > 0)
    throw new BackfillError(
      `people edited the plan of ${provider} on the dashboard, and a new scan would forget that: apply it there, or forget it with cvrsync backfill ${provider} --restart`,
    );
  if (!isApplying(before.phase)) return anew;
  if (applies && before.phase !== 'import') return before;
  const goOn = before.phase === 'import' ? ' --apply FILE' : '';
  throw new BackfillError(
    `a plan of ${provider} is being applied and not done: go on with cvrsync backfill ${provider}${goOn}, or forget it with --restart`,
  );
}
