/** Backfill as runs: a scan, the import of a plan file, and the apply of the plan. */
import { changesMatch, readOpenBackfill, readPreview } from '../../connector/backfill/plan/backfill-task.ts';
import { printWarnings } from '../../connector/backfill/plan/doubts.ts';
import { isFile, tryPlan } from '../../connector/backfill/plan/import-plan.ts';
import { digestOf } from '../../connector/backfill/plan/read-plan.ts';
import { chosenFor, uploadPlan } from '../../connector/backfill/plan/upload-plan.ts';
import { type BackfillDeps, BackfillError } from '../../connector/backfill/rows/backfill-context.ts';
import {
  type BackfillProgress,
  isApplying,
  isInPart,
  isScanning,
  planRevision,
  readRun,
} from '../../connector/backfill/rows/progress.ts';
import { matchRecords, previewApply, scanCrm } from '../../operations/connector/run-requests.ts';
import { cancelRun, confirmRun } from '../../operations/installation/runs.ts';
import { commandActor } from '../arguments/actor.ts';
import { performHere } from '../operations/operation-command.ts';
import type { CarryOut } from '../progress/carry-out-run.ts';

export interface BackfillSteps extends Pick<BackfillDeps, 'store' | 'crm' | 'now'> {
  readonly carryOut: CarryOut;
  readonly signal: AbortSignal;
}

/** `limited`: a limit left some of the plan. */
export type Ended = 'planned' | 'done' | 'limited';

const groundOf = ({ store, crm, now }: BackfillSteps) => ({ store, now, crms: [crm] });

const openRun = ({ store, crm }: BackfillSteps) => readOpenBackfill(store.db, crm.name);

/** Whether an apply of the connection's plan has begun: it then continues without a scan. */
export async function isBegun(deps: BackfillSteps): Promise<boolean> {
  const plan = await readRun(deps.store.db, deps.crm.name);
  const open = await openRun(deps);
  return open?.input.kind === 'apply' || (plan !== undefined && isInPart(plan));
}

export interface ScanAsked {
  readonly kind: 'scan' | 'match';
  /** Discard an open run and people's edits. */
  readonly restart: boolean;
  readonly trust?: BackfillProgress['trust'] | undefined;
  readonly sendUpdate?: boolean | undefined;
}

/** Scans the CRM, or continues a scan. Refuses one that would discard a partly applied plan, or people's edits. */
export async function scan(deps: BackfillSteps, { kind, restart, ...chosen }: ScanAsked): Promise<void> {
  const { store, crm } = deps;
  const provider = crm.name;
  if (restart) await cancelOpen(deps);
  else await refuseToForget(deps);
  await refuseOther(deps, kind);
  const plan = await readRun(store.db, provider);
  const goesOn = !restart && plan !== undefined && isScanning(plan.phase);
  const { id } = await (kind === 'match'
    ? performHere(matchRecords, { provider }, groundOf(deps))
    : performHere(scanCrm, { provider, goesOn, ...chosen }, groundOf(deps)));
  await carried(deps, id);
}

async function cancelOpen(deps: BackfillSteps): Promise<void> {
  const open = await openRun(deps);
  if (open !== undefined) await performHere(cancelRun, { run: open.id }, groundOf(deps));
}

async function refuseToForget(deps: BackfillSteps): Promise<void> {
  const { name } = deps.crm;
  const plan = await readRun(deps.store.db, name);
  if (plan === undefined) return;
  if (isInPart(plan) || isApplying(plan.phase)) {
    const file = plan.phase === 'import' ? ' --apply FILE' : '';
    throw new BackfillError(
      `a plan of ${name} is being applied and not done: go on with cvrsync backfill ${name}${file}, or forget it with --restart`,
    );
  }
  // The file, if there is one, also has the edits.
  if (plan.phase === 'planned' && (plan.edits ?? 0) > 0 && plan.file === undefined)
    throw new BackfillError(
      `people edited the plan of ${name} on the dashboard, and a new scan would forget that: apply it there, or forget it with cvrsync backfill ${name} --restart`,
    );
}

/** Refuses to wait for a run that does something else. */
async function refuseOther(deps: BackfillSteps, kind?: 'scan' | 'match' | 'apply'): Promise<void> {
  const open = await openRun(deps);
  if (open === undefined || open.input.kind === kind) return;
  throw new BackfillError(
    `run ${open.id} works on the plan of ${deps.crm.name}: see cvrsync runs show ${open.id}, and stop it with cvrsync runs cancel ${open.id}`,
  );
}

/** Waits until the stage of a run is done. Throws if it fails, or the command is stopped. */
async function carried({ carryOut, signal }: BackfillSteps, id: number): Promise<void> {
  const { state, error } = await carryOut(id);
  if (state === 'done') return;
  signal.throwIfAborted();
  throw new Error(error ?? `run ${id} was cancelled`);
}

export interface ApplyAsked {
  /** Absent: as in the plan. */
  readonly trust?: BackfillProgress['trust'] | undefined;
  readonly sendUpdate: boolean;
  readonly limit?: number | undefined;
  /** Whether to decide again about records whose number changed since the scan. */
  readonly decidesAgain: boolean;
  readonly writesNumber?: boolean;
  /** Confirms the linking. After a no the plan stays. */
  readonly mayLink: (count: number) => Promise<boolean>;
}

/** Applies the plan, or continues an apply with its original options. */
export async function apply(deps: BackfillSteps, { mayLink, trust, ...asked }: ApplyAsked): Promise<Ended> {
  const { store, crm } = deps;
  const provider = crm.name;
  await refuseOther(deps, 'apply');
  const open = await openRun(deps);
  if (open !== undefined) await carried(deps, open.id);
  if (open?.stage === 'run') return endOf(deps);
  const plan = await readRun(store.db, provider);
  const made = plan && chosenFor(plan);
  const { id } = await performHere(
    previewApply,
    {
      provider,
      ...asked,
      trust: trust ?? made?.trust ?? 'crm',
      sendUpdate: asked.sendUpdate || made?.sendUpdate === true,
      decidesAgain: asked.decidesAgain && plan?.isExact !== true,
      isMeant: true,
    },
    groundOf(deps),
  );
  await carried(deps, id);
  const { toLink = 0 } = (await readPreview(store.db, id)) ?? {};
  if (toLink === 0 && !(await changesMatch(store.db, provider))) return 'done';
  if (toLink > 0 && !(await mayLink(toLink))) return 'planned';
  await performHere(confirmRun, { run: id }, groundOf(deps));
  await carried(deps, id);
  return endOf(deps);
}

const endOf = async ({ store, crm }: BackfillSteps): Promise<Ended> =>
  (await readRun(store.db, crm.name))?.phase === 'done' ? 'done' : 'limited';

/** Imports and applies a plan file, or continues it. Changes nothing if the file looks wrong, unless it is `meant`. */
export async function applyFile(
  deps: BackfillSteps,
  file: string,
  { meant, ...asked }: Omit<ApplyAsked, 'decidesAgain' | 'mayLink'> & { readonly meant: boolean },
): Promise<Ended> {
  if (!(await isOf(deps, file))) await takeIn(deps, file, meant);
  return apply(deps, { ...asked, decidesAgain: false, mayLink: async () => true });
}

/** Whether the plan of an apply that has begun is that of the file. */
async function isOf(deps: BackfillSteps, file: string): Promise<boolean> {
  const plan = await readRun(deps.store.db, deps.crm.name);
  return plan?.file !== undefined && isFile(file) && plan.file === (await digestOf(file)) && (await isBegun(deps));
}

async function takeIn(deps: BackfillSteps, file: string, meant: boolean): Promise<void> {
  const { store, crm, signal } = deps;
  const { toLink, warnings } = await tryPlan(deps, file, signal);
  const many = printWarnings(warnings, toLink, true);
  if (many.length > 0 && !meant)
    throw new BackfillError(
      `nothing of ${file} was linked. Of ${toLink} lines to link ${many.join(', ')}: was a column filled by dragging, or sorted without the others? See it with --apply ${file} --dry-run; add --yes where all of it is meant`,
    );
  await refuseOther(deps);
  const revision = planRevision(await readRun(store.db, crm.name));
  const { kind } = await uploadPlan(deps, { file, revision, actor: commandActor(), via: 'command' }, signal);
  if (kind !== 'taken') throw new BackfillError(`the plan of ${crm.name} changed meanwhile: try again`);
}
