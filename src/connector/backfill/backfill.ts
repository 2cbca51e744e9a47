/**
 * Finds the companies that a CRM holds already, links and monitors them. Each phase (scan, judge, apply, carry) stores its
 * position, so that a process may end at any point and the next one continues.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { acceptMatch } from '../follow/match-property.ts';
import { deleteScanRows } from '../links/scan-rows.ts';
import { applyRows } from './apply.ts';
import { begin } from './begin.ts';
import { allConfirmed, startConfirming } from './confirm-monitoring.ts';
import type { BackfillOptions } from './options.ts';
import { printWarnings } from './plan/doubts.ts';
import { checkPlan, importPlan, type PlanRead } from './plan/import-plan.ts';
import { writePlan } from './plan/write-plan.ts';
import { type BackfillDeps, BackfillError } from './rows/backfill-context.ts';
import { forgetCounts, keepCounts, readCounts } from './rows/counts.ts';
import { type BackfillProgress, holdRun, isScanning, readRun, saveRun } from './rows/progress.ts';
import { type Columns, columnsOf, scanAll } from './scan.ts';
import { settleVerdicts } from './settle-verdicts.ts';

const STEP = 1_000;
/** How long a stopped worker may take to end its calls, in ms. */
const GRACE_MS = 15_000;

/**
 * Runs a backfill or continues one; returns its state. Throws the signal's reason if it is stopped, and keeps what was
 * done until then.
 */
export async function runBackfill(
  deps: BackfillDeps,
  options: BackfillOptions,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const { mode } = options;
  if (mode.kind === 'plan') {
    if (existsSync(mode.file))
      throw new BackfillError(`${mode.file} is there already, and may hold somebody's work: name another file`);
    // Now, and not after a scan of an hour.
    if (!existsSync(dirname(mode.file)))
      throw new BackfillError(`there is no folder ${dirname(mode.file)} for the plan: make it, or name another file`);
  }
  const columns = await columnsOf(deps, signal);
  if (mode.kind === 'file') await checkPlanOf(deps, options, mode.file, signal);
  let run = await begin(deps, options);
  if (run.phase === 'clear') run = await clear(deps, run, signal);
  if (run.phase === 'scan') run = await scanAll(deps, run, columns, signal);
  if (run.phase === 'decide') run = await plan(deps, run, { ...options, columns }, signal);
  if (run.phase === 'import' && mode.kind === 'file') run = await importPlan(deps, run, mode.file, signal);
  if (run.phase === 'apply' || run.phase === 'confirm')
    run = await applyAndConfirm(deps, run, { ...options, columns }, signal);
  return run;
}

async function checkPlanOf(
  { store, crm }: BackfillDeps,
  { restart, meant = false }: Pick<BackfillOptions, 'restart' | 'meant'>,
  file: string,
  signal: AbortSignal,
): Promise<PlanRead> {
  if (restart) throw new BackfillError('--restart forgets the scan that --apply stands on: use one of them');
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new BackfillError(`there is no plan ${file}`);
  const before = await readRun(store.db, crm.name);
  if (before === undefined || isScanning(before.phase))
    throw new BackfillError(
      `no scan of ${crm.name} is finished in this store: make the plan here first, with cvrsync backfill ${crm.name} --plan FILE`,
    );
  const plan = await checkPlan(store.db, crm, file, signal);
  const warnings = printWarnings(plan.warnings, plan.toLink, true);
  if (warnings.length > 0 && !meant)
    throw new BackfillError(
      `nothing of ${file} was linked. Of ${plan.toLink} lines to link ${warnings.join(', ')}: was a column filled by dragging, or sorted without the others? See it with --apply ${file} --dry-run; add --yes where all of it is meant`,
    );
  return plan;
}

/** Says what a plan file would do, by the scan that it was made of. Changes nothing and makes no call. */
export const tryPlan = (deps: BackfillDeps, file: string, signal: AbortSignal): Promise<PlanRead> =>
  checkPlanOf(deps, { restart: false, meant: true }, file, signal);

async function clear(
  { store, crm, now }: BackfillDeps,
  run: BackfillProgress,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const next: BackfillProgress = { ...run, phase: 'scan' };
  for (let left = true; left; ) {
    signal.throwIfAborted();
    left = await store.write(async (tx) => {
      await holdRun(tx, crm.name, run);
      await forgetCounts(tx, crm.name);
      const isSome = await deleteScanRows(tx, crm.name, 'backfill', STEP);
      if (!isSome) await saveRun(tx, crm.name, next, now());
      return isSome;
    });
  }
  return next;
}

/** What a phase needs of the options, and what it reads of a record. */
type PhaseOptions = Pick<BackfillOptions, 'mode' | 'mayLink' | 'limit'> & { readonly columns: Columns };

/** Decides about each row, and writes the plan file if there is to be one. Starts from the first row. */
async function plan(
  deps: BackfillDeps,
  begun: BackfillProgress,
  { columns, mode, mayLink }: PhaseOptions,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const { store, crm, now } = deps;
  const run = await settleVerdicts(deps, begun, columns, signal);
  if (mode.kind === 'plan') await writePlan(deps, run, mode.file, signal);
  const { cursor: _, ...rest } = run;
  await keepCounts(store, crm.name, run, now);
  const { toLink } = await readCounts(store.db, crm.name);
  const isMeant = mode.kind === 'apply' && (toLink === 0 || (await mayLink?.(toLink)) !== false);
  const next: BackfillProgress = { ...rest, phase: isMeant ? 'apply' : 'planned' };
  // A poll is no plan: its options do not count for a plan that is applied later.
  const kept: BackfillProgress = mode.kind === 'poll' ? { ...next, trust: 'crm', sendUpdate: false } : next;
  await store.write((tx) => saveRun(tx, crm.name, kept, now()));
  return next;
}

/** Links, and sends the links to the monitoring service at the same time: it takes 500 calls a minute. */
async function applyAndConfirm(
  deps: BackfillDeps,
  begun: BackfillProgress,
  { columns, limit = Number.POSITIVE_INFINITY }: PhaseOptions,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const { store, crm, now, report } = deps;
  const { toLink } = await readCounts(store.db, crm.name);
  report({ phase: begun.phase, toLink: Math.min(begun.left ?? toLink, toLink) });
  // From now on links follow this property.
  if (begun.match === columns.match) await store.write((tx) => acceptMatch(tx, crm.name, columns.match, now()));
  const worker = deps.isInDaemon === true ? undefined : startConfirming(deps);
  try {
    const run = begun.phase === 'apply' ? await applyRows(deps, begun, { columns, limit }, signal) : begun;
    await allConfirmed(deps, signal);
    if (run.phase !== 'confirm') return run;
    const done: BackfillProgress = { ...run, phase: 'done' };
    await store.write((tx) => saveRun(tx, crm.name, done, now()));
    return done;
  } finally {
    await worker?.stop(GRACE_MS);
  }
}
