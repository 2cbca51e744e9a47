/** Backfills as runs: a scan, a match of the records without a number, and the apply of the plan that a scan made. */
import { type RunItem, readItemsOf } from '../../../runtime/runs/run-items.ts';
import {
  listOpenRuns,
  type RunCaller,
  RunRefused,
  type RunTask,
  requestPreview,
  type StoredRun,
} from '../../../runtime/runs/runs.ts';
import type { Db, Tx } from '../../../store/store.ts';
import { otherMatch } from '../../follow/match-property.ts';
import { outcomeOf } from '../rows/outcome.ts';
import { type BackfillProgress, lockRun, newOwner, planRevision, putRun, readRun } from '../rows/progress.ts';
import { isMany, type PlanWarnings } from './doubts.ts';

/**
 * `scan` makes a plan, and ends with its preview; `match` scans, and finds companies for the records without a number;
 * `apply` links what the plan says.
 */
export interface BackfillRequest {
  readonly kind: 'scan' | 'match' | 'apply';
  readonly provider: string;
  /** The plan that the caller saw. */
  readonly revision: string;
  /** Of a scan: whether a stopped one continues. */
  readonly goesOn?: boolean | undefined;
  /** Of a scan: what its plan is applied with where its apply says nothing else. */
  readonly trust?: BackfillProgress['trust'] | undefined;
  readonly sendUpdate?: boolean | undefined;
  /** Of an apply: a trial, which links at most so many. The rest stays planned. */
  readonly limit?: number | undefined;
  /** The caller accepts the warnings. */
  readonly isMeant?: boolean | undefined;
  /** Decide a record again whose number changed since the scan, in place of leaving it to a person. */
  readonly decidesAgain?: boolean | undefined;
  /** For a plan of matches: write the company's number into linked records that have none. */
  readonly writesNumber?: boolean | undefined;
}

export const BACKFILL: RunTask<BackfillRequest> = {
  queue: 'backfill',
  counts: 'records',
  fine: [],
  isPreviewOnly: ({ kind }) => kind !== 'apply',
  audit({ id: run, input: { kind, provider, trust, sendUpdate, limit, isMeant } }) {
    const detail = { run, ...(kind === 'apply' && { trust, sendUpdate, limit, isMeant }) };
    return { action: kind === 'match' ? 'match.run' : `backfill.${kind}`, subject: provider, detail };
  },
  confirm: confirmApply,
  /** What is left of a plan can be edited and applied again; a scan can continue. */
  async cancel(tx, { id, input: { provider } }, now) {
    const plan = await lockRun(tx, provider);
    // Whoever works on it stores nothing any more: the plan has another owner.
    if (plan?.run === id) await putRun(tx, provider, { ...plan, ...stoppedAt(plan), owner: newOwner() }, now);
  },
  async outcome(tx, { input }) {
    const { linked, failed, toLink } = await outcomeOf(tx, input.provider);
    return `${linked} linked, ${failed} failed, ${toLink} left`;
  },
};

export type BackfillJob = StoredRun<BackfillRequest>;

/** What an apply would do. */
export interface BackfillPreview {
  readonly toLink: number;
  readonly warnings: PlanWarnings;
  /** Records that would get the number of another one. */
  readonly moved: number;
}

const PREVIEW = 'preview';

/** A stored preview. */
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

/** How many records an apply links. */
export const countToLink = ({ toLink }: BackfillPreview, { limit = toLink }: BackfillRequest): number =>
  Math.min(limit, toLink);

/** Whether the warnings are so many that a person must accept them. */
export const needsWord = ({ warnings, moved, toLink }: BackfillPreview): boolean =>
  isMany({ ...warnings, moved }, toLink);

/** The run of a connection that waits or is under way. */
export const readOpenBackfill = async (db: Db, provider: string): Promise<BackfillJob | undefined> =>
  (await listOpenRuns(db, BACKFILL)).find(({ input }) => input.provider === provider);

/** Requests a scan, or the preview of an apply. Returns the id of the run; if one is under way, that one's. */
export async function requestBackfill(
  tx: Tx,
  { input, ...caller }: RunCaller & { readonly input: BackfillRequest },
  now: number,
): Promise<number> {
  // Two callers at once wait for each other.
  await lockRun(tx, input.provider);
  const open = await readOpenBackfill(tx, input.provider);
  if (open !== undefined) return open.id;
  return requestPreview(tx, BACKFILL, { input, ...caller }, now);
}

/** Hands the plan that was previewed to the daemon. */
async function confirmApply(tx: Tx, { id, input }: BackfillJob, now: number): Promise<void> {
  const { kind, provider, revision, isMeant = false, trust = 'crm', sendUpdate = false } = input;
  const { limit, decidesAgain = false, writesNumber } = input;
  const preview = await readPreview(tx, id);
  if (kind !== 'apply' || preview === undefined || (preview.toLink === 0 && !(await changesMatch(tx, provider))))
    throw new RunRefused('there is nothing to link');
  if (needsWord(preview) && !isMeant) throw new RunRefused('accept the warnings of the preview first');
  const plan = await lockRun(tx, provider);
  const open = await readOpenBackfill(tx, provider);
  if (plan === undefined || planRevision(plan) !== revision || (open !== undefined && open.id !== id))
    throw new RunRefused(`the plan of ${provider} has changed since the preview: preview it again`);
  const begun = { owner: newOwner(), phase: 'apply', applied: 0, before: 0, run: id } as const;
  // What people edited is linked as they say.
  const isExact = !decidesAgain || (plan.edits ?? 0) > 0;
  const asked = { trust, sendUpdate, left: limit, writesNumber, isExact };
  await putRun(tx, provider, { ...plan, ...begun, ...asked }, now);
}

/** Whether links follow another property than the plan's scan read: after its apply they follow that one. */
export async function changesMatch(db: Db, provider: string): Promise<boolean> {
  const plan = await readRun(db, provider);
  return plan !== undefined && (await otherMatch(db, provider, plan.match)) !== undefined;
}

/** A stopped apply leaves a plan, a stopped confirmation a finished backfill. */
function stoppedAt({ phase }: BackfillProgress): Partial<BackfillProgress> {
  if (phase === 'apply') return { phase: 'planned' };
  return phase === 'confirm' ? { phase: 'done' } : {};
}
