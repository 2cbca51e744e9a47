/**
 * backfill: the companies that a CRM has already are found, linked, and monitored. Scan, judge, apply, carry: each step
 * keeps its place in the store, so that a run may be killed anywhere and started again.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { deleteScanRows } from '../links/scan-rows.ts';
import { acceptMatch } from '../sync/match.ts';
import { applyRows } from './apply.ts';
import { allCarried, startCarrying } from './carry.ts';
import { printWarnings } from './plan/doubts.ts';
import { digestOf } from './plan/read.ts';
import { checkPlan, importPlan, type PlanRead } from './plan/take.ts';
import { writePlan } from './plan/write.ts';
import { type BackfillDeps, BackfillError } from './rows/context.ts';
import { countRows } from './rows/rows.ts';
import { type BackfillRun, freshRun, holdRun, newOwner, type Phase, readRun, saveRun, takeRun } from './rows/run.ts';
import { type Columns, columnsOf, scanAll } from './scan.ts';
import { settleVerdicts } from './settle-verdicts.ts';

export interface BackfillOptions {
  /** `look` scans and judges only, `plan` also writes a file, `apply` links what the scan found, `file` what a plan says. */
  readonly mode: { readonly kind: 'poll' | 'apply' } | { readonly kind: 'plan' | 'file'; readonly file: string };
  /** Links at most so many now; the next start goes on. */
  readonly limit?: number | undefined;
  readonly sendUpdate: boolean;
  /** Absent: as the run that is gone on with, else `crm`. */
  readonly trust?: BackfillRun['trust'] | undefined;
  readonly restart: boolean;
  /** A person means a plan file as it stands, however strange it looks. */
  readonly meant?: boolean;
  /** Asked before records are linked that nobody has seen in a plan; not asked where absent. A no leaves them planned. */
  readonly mayLink?: (count: number) => Promise<boolean>;
}

const STEP = 1_000;
/** What a stopped worker may take to end its calls, in ms. */
const GRACE_MS = 15_000;

/**
 * Runs a backfill, or goes on with one; returns where it stands. Throws the signal's reason where it is stopped: what was
 * done until then is kept.
 */
export async function runBackfill(
  deps: BackfillDeps,
  options: BackfillOptions,
  signal: AbortSignal,
): Promise<BackfillRun> {
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
  if (run.phase === 'judge') run = await plan(deps, run, columns, options, signal);
  if (run.phase === 'import' && mode.kind === 'file') run = await importPlan(deps, run, mode.file, signal);
  if (run.phase === 'apply' || run.phase === 'carry') run = await carryOut(deps, run, columns, options, signal);
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

/** What a plan file would do, by the scan that it was made of; changes nothing and calls nobody. */
export const tryPlan = (deps: BackfillDeps, file: string, signal: AbortSignal): Promise<PlanRead> =>
  checkPlanOf(deps, { restart: false, meant: true }, file, signal);

const isScanning = (phase: Phase): boolean => phase === 'clear' || phase === 'scan' || phase === 'judge';
const isApplying = (phase: Phase): boolean => phase === 'import' || phase === 'apply' || phase === 'carry';

/** Takes the run that is under way, or begins one. Only an application that is not finished is in the way of a new scan. */
async function begin({ store, crm, now }: BackfillDeps, options: BackfillOptions): Promise<BackfillRun> {
  const { mode, restart } = options;
  const before = restart ? undefined : await readRun(store.db, crm.name);
  const owner = newOwner();
  const take = async (run: BackfillRun): Promise<BackfillRun> => {
    const { trust = run.trust } = options;
    const taken = { ...run, owner, trust, sendUpdate: run.sendUpdate || options.sendUpdate };
    await takeRun(store, crm.name, taken, now());
    return taken;
  };
  const { trust = 'crm', sendUpdate } = options;
  const anew = freshRun(owner, { trust, sendUpdate, match: crm.match ?? '' }, now());
  if (before === undefined) return take(anew);
  if (mode.kind === 'file') {
    const file = await digestOf(mode.file);
    if (before.file === file && isApplying(before.phase)) return take(before);
    // What the plan was made with, it is applied with; what another one was applied with is nobody's word for this one.
    const made = before.phase === 'planned' ? { trust: before.trust, sendUpdate: before.sendUpdate } : {};
    const { end, scanned, match } = before;
    return take({ ...anew, ...made, end, scanned, match, file, phase: 'import' });
  }
  // A scan by another property would say something else of the same records.
  if (isScanning(before.phase)) return take(before.match === anew.match ? before : anew);
  if (!isApplying(before.phase)) return take(anew);
  if (mode.kind === 'apply' && before.phase !== 'import') return take(before);
  const goOn = before.phase === 'import' ? ' --apply FILE' : '';
  throw new BackfillError(
    `a plan of ${crm.name} is being applied and not done: go on with cvrsync backfill ${crm.name}${goOn}, or forget it with --restart`,
  );
}

async function clear({ store, crm, now }: BackfillDeps, run: BackfillRun, signal: AbortSignal): Promise<BackfillRun> {
  const next: BackfillRun = { ...run, phase: 'scan' };
  for (let left = true; left; ) {
    signal.throwIfAborted();
    left = await store.write(async (tx) => {
      await holdRun(tx, crm.name, run);
      const isSome = await deleteScanRows(tx, crm.name, 'backfill', STEP);
      if (!isSome) await saveRun(tx, crm.name, next, now());
      return isSome;
    });
  }
  return next;
}

/** Settles what becomes of each row, and writes the file if one is wanted; from the beginning where it was cut off. */
async function plan(
  deps: BackfillDeps,
  begun: BackfillRun,
  columns: Columns,
  { mode, mayLink }: BackfillOptions,
  signal: AbortSignal,
): Promise<BackfillRun> {
  const { store, crm, now } = deps;
  const run = await settleVerdicts(deps, begun, columns, signal);
  if (mode.kind === 'plan') await writePlan(deps, run, mode.file, signal);
  const { cursor: _, ...rest } = run;
  const { toLink } = await countRows(store.db, crm.name);
  const isMeant = mode.kind === 'apply' && (toLink === 0 || (await mayLink?.(toLink)) !== false);
  const next: BackfillRun = { ...rest, phase: isMeant ? 'apply' : 'planned' };
  // A look is no plan: what it was tried with is nobody's word for a plan that is applied after it.
  const kept: BackfillRun = mode.kind === 'poll' ? { ...next, trust: 'crm', sendUpdate: false } : next;
  await store.write((tx) => saveRun(tx, crm.name, kept, now()));
  return next;
}

/** Links, and has the monitoring service told of the links at the same time: it takes 500 calls a minute. */
async function carryOut(
  deps: BackfillDeps,
  begun: BackfillRun,
  columns: Columns,
  { limit = Number.POSITIVE_INFINITY }: BackfillOptions,
  signal: AbortSignal,
): Promise<BackfillRun> {
  const { store, crm, now, report } = deps;
  report({ phase: begun.phase, toLink: (await countRows(store.db, crm.name)).toLink });
  // What is linked by it from now on follows it.
  if (begun.match === columns.match) await store.write((tx) => acceptMatch(tx, crm.name, columns.match, now()));
  const worker = startCarrying(deps);
  try {
    const run = begun.phase === 'apply' ? await applyRows(deps, begun, columns, limit, signal) : begun;
    await allCarried(deps, signal);
    if (run.phase !== 'carry') return run;
    const done: BackfillRun = { ...run, phase: 'done' };
    await store.write((tx) => saveRun(tx, crm.name, done, now()));
    return done;
  } finally {
    await worker.stop(GRACE_MS);
  }
}
