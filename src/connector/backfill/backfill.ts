/**
 * Finds the companies that a CRM holds already, links and monitors them. Each phase stores its position, so that a process may
 * end at any point and the next one continues.
 */
import { acceptMatch } from '../follow/match-property.ts';
import { deleteScanRows } from '../links/scan-rows.ts';
import { applyRows } from './apply.ts';
import { begin } from './begin.ts';
import { allConfirmed } from './confirm-monitoring.ts';
import type { BackfillOptions } from './options.ts';
import type { BackfillDeps } from './rows/backfill-context.ts';
import { forgetCounts, keepCounts, readCounts } from './rows/counts.ts';
import { type BackfillProgress, holdRun, saveRun } from './rows/progress.ts';
import { type Columns, columnsOf, scanAll } from './scan.ts';
import { settleVerdicts } from './settle-verdicts.ts';

const STEP = 1_000;

/**
 * Does what a run asks for, or continues it; returns the state. Throws the signal's reason if it is stopped, and keeps what was
 * done until then.
 */
export async function runBackfill(
  deps: BackfillDeps,
  options: BackfillOptions,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const columns = await columnsOf(deps, signal);
  let run = await begin(deps, options);
  if (run.phase === 'clear') run = await clear(deps, run, signal);
  if (run.phase === 'scan') run = await scanAll(deps, run, columns, signal);
  if (run.phase === 'decide') run = await plan(deps, run, columns, signal);
  if (run.phase === 'apply' || run.phase === 'confirm') run = await applyAndConfirm(deps, run, columns, signal);
  return run;
}

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

/** Decides about each row. Starts from the first one. */
async function plan(
  deps: BackfillDeps,
  begun: BackfillProgress,
  columns: Columns,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const { store, crm, now } = deps;
  const { cursor: _, ...run } = await settleVerdicts(deps, begun, columns, signal);
  await keepCounts(store, crm.name, run, now);
  const next: BackfillProgress = { ...run, phase: 'planned' };
  await store.write((tx) => saveRun(tx, crm.name, next, now()));
  return next;
}

/** Links; at the same time a worker sends the links to the monitoring service, which takes 500 calls a minute. */
async function applyAndConfirm(
  deps: BackfillDeps,
  begun: BackfillProgress,
  columns: Columns,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const { store, crm, now, report } = deps;
  const { toLink } = await readCounts(store.db, crm.name);
  report({ phase: begun.phase, toLink: Math.min(begun.left ?? toLink, toLink) });
  // From now on links follow this property.
  if (begun.match === columns.match) await store.write((tx) => acceptMatch(tx, crm.name, columns.match, now()));
  const run = begun.phase === 'apply' ? await applyRows(deps, begun, columns, signal) : begun;
  await allConfirmed(deps, signal);
  if (run.phase !== 'confirm') return run;
  const ended: BackfillProgress = { ...run, phase: 'done' };
  await store.write((tx) => saveRun(tx, crm.name, ended, now()));
  return ended;
}
