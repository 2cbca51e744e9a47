/** Backfills that people ask for on pages: a scan, and the plan that they apply after a preview. The daemon does them. */
import { type AuditActor, recordAudit } from '../../../runtime/operators/audit.ts';
import {
  cancelRun,
  listOpenRuns,
  type RunItem,
  type RunRef,
  type RunTask,
  readItemsOf,
  readRun as readStoredRun,
  requestPreview,
  requestRun,
  type StoredRun,
} from '../../../runtime/runs/runs.ts';
import type { Db, Tx } from '../../../store/store.ts';
import { type BackfillProgress, lockRun, newOwner, planRevision, putRun } from '../rows/progress.ts';
import { isMany, type PlanWarnings } from './doubts.ts';

/** What is asked for. `scan` makes a plan, and ends with its preview; `apply` links what the plan says. */
export interface BackfillRequest {
  readonly kind: 'scan' | 'apply';
  readonly provider: string;
  /** The plan that the person saw. */
  readonly revision: string;
  /** Of a scan: whether one that was stopped goes on. */
  readonly goesOn?: boolean | undefined;
  readonly trust?: BackfillProgress['trust'] | undefined;
  readonly sendUpdate?: boolean | undefined;
  /** The person says that all of it is meant, in spite of the warnings. */
  readonly isMeant?: boolean | undefined;
}

export const BACKFILL: RunTask<BackfillRequest> = { queue: 'backfill', readInput: (text) => JSON.parse(text) };

/** A backfill of a page as it stands; counted in records. */
export type BackfillJob = StoredRun<BackfillRequest>;

/** What an apply would do. */
export interface BackfillPreview {
  readonly toLink: number;
  readonly warnings: PlanWarnings;
  /** Records that would get the number of another one. */
  readonly moved: number;
}

const PREVIEW = 'preview';

/** A preview as it is stored. */
export const previewItem = (preview: BackfillPreview): RunItem => ({
  key: 'plan',
  kind: PREVIEW,
  detail: JSON.stringify(preview),
});

/** What the apply of a run would do; undefined before its preview has ended. */
export async function readPreview(db: Db, id: number): Promise<BackfillPreview | undefined> {
  const [item] = await readItemsOf(db, id, PREVIEW, 1);
  return item && JSON.parse(item.detail);
}

/** Whether so much speaks against a plan that a person must say that it is meant. */
export const needsWord = ({ warnings, moved, toLink }: BackfillPreview): boolean =>
  isMany({ ...warnings, moved }, toLink);

/** The run of a connection that waits or goes on. */
export const readOpenBackfill = async (db: Db, provider: string): Promise<BackfillJob | undefined> =>
  (await listOpenRuns(db, BACKFILL)).find(({ input }) => input.provider === provider);

/** Asks for a scan, or for the preview of an apply. Returns the id of the run; that of the one that goes on already, where one does. */
export async function requestBackfill(
  tx: Tx,
  { input, actor }: { readonly input: BackfillRequest; readonly actor: AuditActor },
  now: number,
): Promise<number> {
  // Two people who ask at once wait for each other.
  await lockRun(tx, input.provider);
  const open = await readOpenBackfill(tx, input.provider);
  if (open !== undefined) return open.id;
  const id = await requestPreview(tx, BACKFILL, { input, actor }, now);
  if (input.kind === 'scan') await auditBackfill(tx, { id, input, actor }, 'begun', now);
  return id;
}

/**
 * Asks for the apply that was previewed. False if it is not at that point, where the plan is another one by now, or where
 * a person must first say that it is meant.
 */
export async function requestApply(tx: Tx, ref: RunRef, now: number): Promise<boolean> {
  const asked = await readStoredRun(tx, BACKFILL, ref.id);
  const preview = await readPreview(tx, ref.id);
  if (asked?.input.kind !== 'apply' || preview === undefined) return false;
  const { provider, revision, isMeant = false, trust = 'crm', sendUpdate = false } = asked.input;
  if (preview.toLink === 0 || (needsWord(preview) && !isMeant)) return false;
  const plan = await lockRun(tx, provider);
  if (plan === undefined || planRevision(plan) !== revision || (await readOpenBackfill(tx, provider)) !== undefined)
    return false;
  const run = await requestRun(tx, BACKFILL, ref, now);
  if (run === undefined) return false;
  // Confirmed row by row, as a plan file is.
  const confirmed = { owner: newOwner(), phase: 'apply', applied: 0, before: 0, file: revision, page: ref.id } as const;
  await putRun(tx, provider, { ...plan, ...confirmed, trust, sendUpdate }, now);
  await auditBackfill(tx, run, `begun for ${preview.toLink} records`, now);
  return true;
}

/** Stops a scan or an apply before its next page. False if it had ended already. What is linked stays linked. */
export async function cancelBackfill(tx: Tx, { id, actor }: RunRef, now: number): Promise<boolean> {
  const run = await cancelRun(tx, BACKFILL, id, now);
  if (run === undefined) return false;
  const { provider, kind } = run.input;
  const plan = await lockRun(tx, provider);
  // A page that is under way stores nothing any more: the plan is another's.
  if (plan?.page === id) await putRun(tx, provider, { ...plan, ...stoppedAt(plan), owner: newOwner() }, now);
  if (kind === 'scan' || run.stage === 'run')
    await auditBackfill(tx, { ...run, actor }, `cancelled after ${run.done} records`, now);
  return true;
}

/** What is left of a plan may be edited and applied again; a scan can go on. */
function stoppedAt({ phase }: BackfillProgress): Partial<BackfillProgress> {
  if (phase === 'apply') return { phase: 'planned' };
  return phase === 'confirm' ? { phase: 'done' } : {};
}

/** Tells the audit what came of a run. */
export const auditBackfill = (
  tx: Tx,
  { id, input, actor }: Pick<BackfillJob, 'id' | 'input' | 'actor'>,
  result: string,
  now: number,
): Promise<void> => {
  const { kind, provider, trust, sendUpdate, isMeant } = input;
  const detail = { run: id, ...(kind === 'apply' && { trust, sendUpdate, isMeant }) };
  return recordAudit(tx, { actor, via: 'page', action: `backfill.${kind}`, subject: provider, detail, result }, now);
};
