/** Which backfill of a connection a run goes on with, and which it starts. */
import { findRun } from '../../runtime/runs/runs.ts';
import type { Tx } from '../../store/store.ts';
import { refuseLeft } from '../links/left.ts';
import type { BackfillOptions } from './options.ts';
import { type BackfillDeps, BackfillError } from './rows/backfill-context.ts';
import {
  type BackfillProgress,
  freshRun,
  isScanning,
  lockRun,
  newOwner,
  planRevision,
  putRun,
} from './rows/progress.ts';

/** Continues the backfill of the connection, or begins one; it is ours from now on. */
export async function begin({ store, crm, now }: BackfillDeps, options: BackfillOptions): Promise<BackfillProgress> {
  const owner = newOwner();
  return store.write(async (tx) => {
    await refuseLeft(tx, crm.name);
    const before = await lockRun(tx, crm.name);
    await needRunning(tx, options.run);
    const { trust = 'crm', sendUpdate = false } = options;
    const fresh = freshRun(owner, { trust, sendUpdate, match: crm.match ?? '' }, now());
    const taken: BackfillProgress = { ...chosen(crm.name, options, before, fresh), owner, run: options.run };
    await putRun(tx, crm.name, taken, now());
    return taken;
  });
}

/** A cancelled run must not forget the plan. */
async function needRunning(tx: Tx, run: number): Promise<void> {
  if ((await findRun(tx, run))?.state !== 'running') throw new BackfillError('the run was cancelled');
}

/** The one that the run began, or begins where the plan is still the one that was seen; a confirmed plan is begun already. */
function chosen(
  provider: string,
  { run, kind, revision, goesOn, trust, sendUpdate }: BackfillOptions,
  before: BackfillProgress | undefined,
  fresh: BackfillProgress,
): BackfillProgress {
  // A scan by another property would find other numbers.
  const isOther = before !== undefined && isScanning(before.phase) && before.match !== fresh.match;
  if (before?.run === run) return isOther ? fresh : before;
  if (kind === 'apply' || planRevision(before) !== revision)
    throw new BackfillError(`the plan of ${provider} is another one by now: look at it, then ask again`);
  if (!goesOn || before === undefined || !isScanning(before.phase) || isOther) return fresh;
  return { ...before, ...(trust !== undefined && { trust }), ...(sendUpdate !== undefined && { sendUpdate }) };
}
