/**
 * Links the planned rows, a page at a time. Reads each page in the CRM again before, because a scan of a hundred thousand
 * records is old by then. One transaction stores the links, the rows and the position of the run.
 */
import type { Read } from '../../../providers/provider.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { withoutErased } from '../../store/erasure/erasures.ts';
import type { Tx } from '../../store/store.ts';
import { verdictOf } from '../follow/verdict.ts';
import { type LinkResult, linkRecord, updateLink } from '../links/links.ts';
import { countMatchAnswers } from '../match/count-answer.ts';
import { linkKey, MONITORING_QUEUE } from '../names/queues.ts';
import { decideRows } from './decide-rows.ts';
import { type Rechecked, recheck } from './recheck.ts';
import type { BackfillDeps } from './rows/backfill-context.ts';
import { withCounts } from './rows/counts.ts';
import { patiently } from './rows/patience.ts';
import { type BackfillProgress, holdRun, saveRun } from './rows/progress.ts';
import { plannedRows, putRows, rowsById, type ScanRow, updateRows } from './rows/scan-rows.ts';
import { type Columns, freshOf } from './scan.ts';

/** How often to read rows again for which the CRM gave no answer. */
const ROUNDS = 3;
const ROUND_MS = 5_000;

/**
 * Links every planned row from the position of the run, or as many as its limit lets. The run's phase is `confirm` afterwards, or
 * `planned` if some are left.
 */
export async function applyRows(
  deps: BackfillDeps,
  begun: BackfillProgress,
  columns: Columns,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const { store, crm, now, wait } = deps;
  const batch = Math.max(1, crm.limits.batch.read);
  let run = begun;
  for (let round = 1; ; ) {
    signal.throwIfAborted();
    const left = run.left ?? batch;
    const page = { after: run.applied, limit: Math.min(batch, left), action: 'link' } as const;
    const rows = left === 0 ? [] : await plannedRows(store.db, crm.name, page);
    if (rows.length > 0) {
      run = await readAndApply(deps, run, { rows, columns, round }, signal);
      continue;
    }
    const isWhole = (await plannedRows(store.db, crm.name, { ...page, after: 0, limit: 1 })).length === 0;
    const ends = isWhole || left === 0;
    if (ends) {
      const ended = endOf(run, isWhole);
      await store.write((tx) => saveRun(tx, crm.name, ended, now()));
      return ended;
    }
    run = { ...run, applied: 0 };
    await store.write((tx) => saveRun(tx, crm.name, run, now()));
    // Start again at the first row: the CRM gave no answer for some of them.
    round += 1;
    await wait(ROUND_MS, signal);
  }
}

/** What a limit left is a plan again. */
const endOf = ({ left: _, ...run }: BackfillProgress, isWhole: boolean): BackfillProgress => ({
  ...run,
  phase: isWhole ? 'confirm' : 'planned',
});

interface ApplyPage {
  readonly rows: readonly ScanRow[];
  readonly columns: Columns;
  /** In the last round, rows for which the CRM still gives no answer fail. */
  readonly round: number;
}

async function readAndApply(
  deps: BackfillDeps,
  run: BackfillProgress,
  page: ApplyPage,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const { store, wakeUp, crm, now, report } = deps;
  const ids = page.rows.map((row) => row.record_id);
  const reads = await patiently(deps, () => crm.connection.read(ids, page.columns.all, signal), signal);
  // Records that others were merged into are rows, too, or become rows.
  const touched = [...ids, ...reads.flatMap((read) => (read.kind === 'moved' ? read.to : []))];
  const applied = await store.write(async (tx) => {
    await holdRun(tx, crm.name, run);
    return withCounts(tx, { provider: crm.name, ids: touched, now: now() }, () =>
      applyPage(deps, tx, run, { ...page, reads }),
    );
  });
  if (applied.linked > 0) wakeUp.ring(MONITORING_QUEUE);
  report({ phase: 'apply', linked: applied.linked });
  return applied.run;
}

interface Applied {
  readonly run: BackfillProgress;
  readonly linked: number;
}

async function applyPage(
  deps: BackfillDeps,
  tx: Tx,
  run: BackfillProgress,
  { rows, columns, round, reads }: ApplyPage & { readonly reads: readonly Read[] },
): Promise<Applied> {
  const { crm, now } = deps;
  const provider = crm.name;
  const checked = rows.map((row, at) => recheck(row, reads[at], freshOf(crm, columns, now()), run.isExact === true));
  const toLink = checked.flatMap((one) => (one.kind === 'link' ? one.row : []));
  const planned = await withoutErased(tx, toLink, ({ entity }) => entity);
  const last = rows.at(-1)?.position ?? run.applied;
  let next: BackfillProgress = { ...run, applied: last };
  await saveRun(tx, provider, next, now());

  // Lock every lane before every link, in the order of the keys, so that two processes cannot wait for each other.
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
  const { done, before } = await linkRows(deps, tx, planned, run);
  const ended = checked.flatMap((one): ScanRow[] => {
    if (one.kind === 'settled' || one.kind === 'follow') return [{ ...one.row, state: 'done' }];
    if (one.kind === 'later' && round >= ROUNDS) return [{ ...one.row, state: 'failed', detail: one.reason }];
    return [];
  });
  // Those of erased companies leave the scan with this.
  const erased = toLink.filter((row) => !planned.includes(row));
  await updateRows(tx, provider, [...done, ...ended, ...erased]);
  const requeued = await requeue(deps, tx, checked, next);
  const linked = done.filter((row) => row.state === 'done' && row.action === 'link').length;
  const left = run.left === undefined ? undefined : run.left - linked;
  next = { ...next, end: next.end + requeued, before: (next.before ?? 0) + before, left };
  if (requeued > 0 || before > 0 || left !== undefined) await saveRun(tx, provider, next, now());
  return { run: next, linked };
}

/**
 * Links rows. Where a company got another record meanwhile, the row waits for an operator, unless a person chose it in a
 * plan. `before` counts the rows that were linked already.
 */
async function linkRows(
  deps: BackfillDeps,
  tx: Tx,
  rows: readonly ScanRow[],
  run: BackfillProgress,
): Promise<{ readonly done: readonly ScanRow[]; readonly before: number }> {
  const sure = run.isExact === true ? rows : await decideRows(tx, deps.crm.name, rows);
  const done: ScanRow[] = [];
  let before = 0;
  for (const [at, row] of sure.entries()) {
    const { entity } = row;
    // A row that was linked meanwhile as planned is done; a doubtful one keeps its new verdict.
    if (row.action !== 'link' && row.verdict !== 'linked') done.push({ ...row, state: 'done' });
    else if (entity === null) done.push({ ...row, state: 'failed', detail: 'no company is named for it' });
    else {
      const linked = await linkRow(deps, tx, { ...row, entity }, run);
      if (linked.kind === 'already') before += 1;
      done.push(rowAfter({ ...row, verdict: rows[at]?.verdict ?? row.verdict }, linked));
    }
  }
  return { done, before };
}

function rowAfter(row: ScanRow, linked: LinkResult): ScanRow {
  if (linked.kind !== 'taken') return { ...row, action: 'link', state: 'done' };
  const detail = `it is linked to ${linked.entity}, and ${row.found ?? 'the plan'} says ${row.entity}`;
  return { ...row, verdict: 'differs', state: 'failed', detail };
}

async function linkRow(
  { crm, now }: BackfillDeps,
  tx: Tx,
  { record_id: recordId, entity, found }: ScanRow & { readonly entity: string },
  { trust, sendUpdate, isExact, writesNumber }: BackfillProgress,
): Promise<LinkResult> {
  const ref = { provider: crm.name, recordId };
  // Where a person wrote another number into the plan than the record holds, the link does not follow the record's.
  const held = verdictOf(found, false).entity;
  const isTheirs = isExact === true && held !== entity;
  const origin = isTheirs ? 'person' : 'number';
  const linked = await linkRecord(tx, { ...ref, entity, sendUpdate, now: now(), origin, trust });
  // The person saw the record's number, so cvrsync does not report it as a mismatch.
  if (isTheirs && held !== null && linked.kind !== 'taken') await updateLink(tx, ref, { mismatch: held });
  if (writesNumber === true && linked.kind !== 'taken') await updateLink(tx, ref, { writes_number: 1 });
  if (writesNumber === true && linked.kind === 'linked')
    await countMatchAnswers(tx, crm.name, [{ recordId, entity, is: 'accepted' }], { now: now() });
  // An earlier run may have let the register overwrite values that are not written yet: no longer. Never the other way
  // round, because people may have edited the record since cvrsync filled it.
  if (linked.kind === 'already' && trust === 'crm') await updateLink(tx, ref, { trust });
  return linked;
}

/** Appends rows that need a new verdict, and survivors of merges, to the queue. Returns by how much it grew. */
async function requeue(
  { crm: { name: provider } }: BackfillDeps,
  tx: Tx,
  checked: readonly Rechecked[],
  { isExact, end }: BackfillProgress,
): Promise<number> {
  const again = checked.flatMap((one) => (one.kind === 'again' ? one.row : []));
  // Store them first, so that the verdicts see a number that two of them share.
  await updateRows(tx, provider, again);
  const decided = await decideRows(tx, provider, again);
  const waiting = decided.filter((row) => row.action === 'link').map((row, at) => ({ ...row, position: end + at + 1 }));
  await updateRows(tx, provider, [
    ...waiting,
    ...decided.filter((row) => row.action !== 'link').map((row) => ({ ...row, state: 'done' as const })),
  ]);

  const moves = new Map(checked.flatMap((one) => (one.kind === 'follow' ? [[one.to, one] as const] : [])));
  const known = new Map((await rowsById(tx, provider, [...moves.keys()])).map((row) => [row.record_id, row]));
  const queued = [...moves].flatMap(([to, { row, entity }]): ScanRow[] => {
    const survivor = known.get(to);
    // A survivor among the rows is applied as planned, unless it had no number and has that of the merged record now.
    if (survivor !== undefined && (isExact === true || survivor.verdict !== 'no-number')) return [];
    const planned = { entity, verdict: 'matched', action: 'link', state: 'planned', detail: null } as const;
    return [{ ...row, ...planned, record_id: to, name: survivor?.name ?? row.name, position: 0 }];
  });
  for (const [at, row] of queued.entries()) queued[at] = { ...row, position: end + waiting.length + at + 1 };
  await putRows(tx, provider, queued);
  await updateRows(tx, provider, queued);
  return waiting.length + queued.length;
}
