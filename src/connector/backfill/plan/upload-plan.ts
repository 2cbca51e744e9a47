/** A plan file in place of the stored plan: what it says is what the pages then show, and nothing is linked yet. */
import { recordAudit } from '../../../runtime/operators/audit.ts';
import type { RunCaller } from '../../../runtime/runs/runs.ts';
import type { BackfillDeps } from '../rows/backfill-context.ts';
import { type BackfillProgress, lockRun, newOwner, planRevision, putRun, saveRun } from '../rows/progress.ts';
import { readOpenBackfill } from './backfill-task.ts';
import { editedPlan, isEditable } from './edit-row.ts';
import { checkPlan, type PlanRead, takeLines } from './import-plan.ts';
import { digestOf } from './read-plan.ts';

/** A file, and who wants it to be the plan. */
export interface PlanUpload extends RunCaller {
  readonly file: string;
  /** The plan that the person saw. */
  readonly revision: string;
}

/** `stale`: the plan is another one by now; `busy`: a scan or an apply goes on, or no scan has ended. */
export type PlanUploadResult =
  | { readonly kind: 'taken'; readonly read: PlanRead }
  | { readonly kind: 'stale' | 'busy' };

/**
 * Takes a plan file in. Nothing is changed if a line cannot be followed: throws `PlanError`. A process that ends in the
 * middle leaves a plan that links nothing before a file is taken in again.
 */
export async function uploadPlan(
  deps: Pick<BackfillDeps, 'store' | 'crm' | 'now'>,
  { file, revision, actor, via }: PlanUpload,
  signal: AbortSignal,
): Promise<PlanUploadResult> {
  const { store, crm, now } = deps;
  const { name } = crm;
  const digest = await digestOf(file);
  const read = await checkPlan(store.db, crm, file, signal);
  const begun = await store.write(async (tx) => {
    const run = await lockRun(tx, name);
    if (run === undefined || planRevision(run) !== revision) return 'stale';
    if (!takesFile(run) || (await readOpenBackfill(tx, name)) !== undefined) return 'busy';
    const { run: _, isExact: __, ...rest } = run;
    const next: BackfillProgress = {
      ...rest,
      ...editedPlan(run),
      ...chosenFor(run),
      owner: newOwner(),
      phase: 'import',
    };
    await putRun(tx, name, next, now());
    return next;
  });
  if (typeof begun === 'string') return { kind: begun };
  await takeLines(deps, begun, file, signal);
  await store.write(async (tx) => {
    // Whoever saw it in the middle saw another plan.
    await saveRun(tx, name, { ...begun, ...editedPlan(begun), file: digest }, now());
    const detail = { toLink: read.toLink, skipped: read.skipped };
    await recordAudit(tx, { actor, via, action: 'backfill.upload', subject: name, detail, result: 'done' }, now());
  });
  return { kind: 'taken', read };
}

/** What a plan was made with counts for its file; what an earlier one was applied with does not. */
export const chosenFor = ({ phase, trust, sendUpdate }: BackfillProgress) =>
  phase === 'done' ? ({ trust: 'crm', sendUpdate: false } as const) : { trust, sendUpdate };

/** Whether a file may become the plan: also if one was cut in the middle. */
export const takesFile = (run: BackfillProgress): boolean => isEditable(run) || run.phase === 'import';
