/**
 * apply: planned rows become links, a page at a time. Each page is read in the CRM once more before: a scan of a hundred
 * thousand records is old by the time it is applied. Links, rows and the place of the run are one transaction.
 */
import type { Read } from '../../../providers/provider.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { Tx } from '../../store/store.ts';
import { linkKey, linkRecord, MONITORING_QUEUE, updateLink } from '../links/links.ts';
import { judgeRows } from './judge.ts';
import { type Rechecked, recheck } from './recheck.ts';
import type { BackfillDeps } from './rows/context.ts';
import { patiently } from './rows/patience.ts';
import { plannedRows, putRows, rowsById, type ScanRow, updateRows } from './rows/rows.ts';
import { type BackfillRun, saveRun } from './rows/run.ts';
import { verdictOf } from './rows/verdict.ts';
import { type Columns, freshOf } from './scan.ts';

/** How often rows that a CRM could not tell of are asked for again. */
const ROUNDS = 3;
const ROUND_MS = 5_000;

/**
 * Links every planned row from where the run stands, at most `limit` of them. The run's phase is `carry` afterwards, or
 * still `apply` where the limit left some.
 */
export async function applyRows(
  deps: BackfillDeps,
  begun: BackfillRun,
  columns: Columns,
  limit: number,
  signal: AbortSignal,
): Promise<BackfillRun> {
  const { store, wakeUp, crm, now, wait, report } = deps;
  const batch = Math.max(1, crm.limits.batch.read);
  let run = begun;
  let left = limit;
  for (let round = 1; ; ) {
    signal.throwIfAborted();
    const page = { after: run.applied, limit: Math.min(batch, left), action: 'link' } as const;
    const rows = left === 0 ? [] : await plannedRows(store.db, crm.name, page);
    if (rows.length > 0) {
      const ids = rows.map((row) => row.record_id);
      const reads = await patiently(deps, () => crm.connection.read(ids, columns.all, signal), signal);
      const applied = await store.write((tx) => applyPage(deps, tx, run, columns, { rows, reads, round }));
      run = applied.run;
      if (applied.linked > 0) wakeUp.ring(MONITORING_QUEUE);
      left -= applied.linked;
      report({ phase: 'apply', linked: applied.linked });
      continue;
    }
    const isWhole = (await plannedRows(store.db, crm.name, { ...page, after: 0, limit: 1 })).length === 0;
    run = { ...run, applied: isWhole || left === 0 ? run.applied : 0, phase: isWhole ? 'carry' : 'apply' };
    await store.write((tx) => saveRun(tx, crm.name, run, now()));
    if (isWhole || left === 0) return run;
    // Rows that the CRM could not tell of were passed over: from the beginning once more.
    round += 1;
    await wait(ROUND_MS, signal);
  }
}

interface ReadPage {
  readonly rows: readonly ScanRow[];
  readonly reads: readonly Read[];
  /** In the last one, what the CRM still cannot tell of is given up. */
  readonly round: number;
}

interface Applied {
  readonly run: BackfillRun;
  readonly linked: number;
}

async function applyPage(
  { crm, now }: BackfillDeps,
  tx: Tx,
  run: BackfillRun,
  columns: Columns,
  { rows, reads, round }: ReadPage,
): Promise<Applied> {
  const provider = crm.name;
  const isExact = run.file !== undefined;
  const checked = rows.map((row, at) => recheck(row, reads[at], freshOf(crm, columns, now()), isExact));
  const planned = checked.flatMap((one) => (one.kind === 'link' ? one.row : []));
  const last = rows.at(-1)?.position ?? run.applied;
  let next: BackfillRun = { ...run, applied: last };
  await saveRun(tx, provider, next, now());

  // Every mark before every link, in the order of the keys: nobody who locks the same waits for us while we wait.
  const entities = planned.flatMap((row) => row.entity ?? []);
  const ids = planned.map((row) => row.record_id);
  await mark(tx, 'apply', entities, now());
  await mark(tx, `sync:${provider}`, ids, now());
  await mark(
    tx,
    MONITORING_QUEUE,
    ids.map((id) => linkKey(provider, id)),
    now(),
  );
  const { done, before } = await linkRows(tx, provider, planned, run, now());
  const ended = checked.flatMap((one): ScanRow[] => {
    if (one.kind === 'settled' || one.kind === 'follow') return [{ ...one.row, state: 'done' }];
    if (one.kind === 'later' && round >= ROUNDS) return [{ ...one.row, state: 'failed', detail: one.reason }];
    return [];
  });
  await updateRows(tx, provider, [...done, ...ended]);
  const requeued = await requeue(tx, provider, checked, run, next.end);
  next = { ...next, end: next.end + requeued, before: (next.before ?? 0) + before };
  if (requeued > 0 || before > 0) await saveRun(tx, provider, next, now());
  return {
    run: next,
    linked: done.filter((row) => row.state === 'done' && row.action === 'link').length,
  };
}

/**
 * Links rows; those whose company got another record meanwhile are for a person, unless one chose them. `before` counts
 * those that were linked already.
 */
async function linkRows(
  tx: Tx,
  provider: string,
  rows: readonly ScanRow[],
  { trust, sendUpdate, file }: BackfillRun,
  now: number,
): Promise<{ readonly done: readonly ScanRow[]; readonly before: number }> {
  const sure = file === undefined ? await judgeRows(tx, provider, rows) : rows;
  const done: ScanRow[] = [];
  let before = 0;
  for (const [at, row] of sure.entries()) {
    const { record_id: recordId, entity, found } = row;
    // What is linked by now as it was planned is done; what is in doubt stays as it was judged.
    if (row.action !== 'link' && row.verdict !== 'linked') done.push({ ...row, state: 'done' });
    else if (entity === null) done.push({ ...row, state: 'failed', detail: 'no company is named for it' });
    else {
      // Where a person wrote another number into the plan than the record holds, the link does not follow the record's.
      const held = verdictOf(found, false).entity;
      const isTheirs = file !== undefined && held !== entity;
      const origin = isTheirs ? 'person' : 'number';
      const linked = await linkRecord(tx, { provider, recordId, entity, sendUpdate, now, origin, trust });
      // They saw what the record holds, and need not be asked about it again.
      if (isTheirs && held !== null && linked.kind !== 'taken')
        await updateLink(tx, { provider, recordId }, { mismatch: held });
      if (linked.kind === 'already') {
        before += 1;
        // What an earlier one let the register overwrite and is not written yet, is not to be any more. Never the other
        // way round: people may have edited the record since it was filled.
        if (trust === 'crm') await updateLink(tx, { provider, recordId }, { trust });
      }
      const verdict = rows[at]?.verdict ?? row.verdict;
      if (linked.kind !== 'taken') done.push({ ...row, verdict, action: 'link', state: 'done' });
      else {
        const detail = `it is linked to ${linked.entity}, and ${found ?? 'the plan'} says ${entity}`;
        done.push({ ...row, verdict: 'differs', state: 'failed', detail });
      }
    }
  }
  return { done, before };
}

/** Puts rows that are to be judged anew, and survivors of merges, at the end of the queue. Returns by how much it grew. */
async function requeue(
  tx: Tx,
  provider: string,
  checked: readonly Rechecked[],
  run: BackfillRun,
  end: number,
): Promise<number> {
  const again = checked.flatMap((one) => (one.kind === 'again' ? one.row : []));
  // First as they are: a number that two of them got is then seen twice.
  await updateRows(tx, provider, again);
  const judged = await judgeRows(tx, provider, again);
  const waiting = judged.filter((row) => row.action === 'link').map((row, at) => ({ ...row, position: end + at + 1 }));
  await updateRows(tx, provider, [
    ...waiting,
    ...judged.filter((row) => row.action !== 'link').map((row) => ({ ...row, state: 'done' as const })),
  ]);

  const moves = new Map(checked.flatMap((one) => (one.kind === 'follow' ? [[one.to, one] as const] : [])));
  const known = new Map((await rowsById(tx, provider, [...moves.keys()])).map((row) => [row.record_id, row]));
  const queued = [...moves].flatMap(([to, { row, entity }]): ScanRow[] => {
    const survivor = known.get(to);
    // One of the rows: it is applied as it was planned, unless it had no number and has the loser's now.
    if (survivor !== undefined && (run.file !== undefined || survivor.verdict !== 'no-number')) return [];
    const planned = { entity, verdict: 'matched', action: 'link', state: 'planned', detail: null } as const;
    return [{ ...row, ...planned, record_id: to, name: survivor?.name ?? row.name, position: 0 }];
  });
  for (const [at, row] of queued.entries()) queued[at] = { ...row, position: end + waiting.length + at + 1 };
  await putRows(tx, provider, queued);
  await updateRows(tx, provider, queued);
  return waiting.length + queued.length;
}
