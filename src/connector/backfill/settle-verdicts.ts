/** From what a scan saw of each record to what is to be done with it: verdicts over all rows, and another look at twins. */

import { verdictOf } from '../follow/verdict.ts';
import { decideRows } from './decide-rows.ts';
import { recheck } from './recheck.ts';
import type { BackfillDeps } from './rows/backfill-context.ts';
import { patiently } from './rows/patience.ts';
import { type BackfillProgress, holdRun, saveRun } from './rows/progress.ts';
import { plannedRows, putRows, rowsById, type ScanRow, updateRows } from './rows/scan-rows.ts';
import { type Columns, freshOf } from './scan.ts';

const STEP = 1_000;

/**
 * Decides every row. Records that share a number are read once more, and decided again: where people merged, deleted or
 * corrected them during the scan, the number may be one record's after all. May be repeated, and is soon done.
 */
export async function settleVerdicts(
  deps: BackfillDeps,
  begun: BackfillProgress,
  columns: Columns,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  deps.report({ phase: 'decide' });
  await decideAll(deps, begun, signal);
  const run = await readTwins(deps, begun, columns, signal);
  await decideAll(deps, run, signal);
  return run;
}

/** Rows that are to be linked are decided already. */
async function decideAll({ store, crm }: BackfillDeps, run: BackfillProgress, signal: AbortSignal): Promise<void> {
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const rows = await plannedRows(store.db, crm.name, { after, limit: STEP, action: 'skip' });
    if (rows.length === 0) return;
    await store.write(async (tx) => {
      await holdRun(tx, crm.name, run);
      const decided = await decideRows(tx, crm.name, rows);
      await updateRows(
        tx,
        crm.name,
        decided.filter((row, at) => row !== rows[at]),
      );
    });
    after = rows.at(-1)?.position ?? after;
  }
}

async function readTwins(
  deps: BackfillDeps,
  begun: BackfillProgress,
  columns: Columns,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const { store, crm, now } = deps;
  let run = begun;
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const page = { after, limit: crm.limits.batch.read, verdict: 'ambiguous' } as const;
    const rows = await plannedRows(store.db, crm.name, page);
    if (rows.length === 0) return run;
    const ids = rows.map((row) => row.record_id);
    const reads = await patiently(deps, () => crm.connection.read(ids, columns.all, signal), signal);
    const seen = rows.map((row, at) => recheck(row, reads[at], freshOf(crm, columns, now()), false));
    run = await store.write(async (tx) => {
      const moves = new Map(seen.flatMap((one) => (one.kind === 'follow' ? [[one.to, one] as const] : [])));
      const known = new Set((await rowsById(tx, crm.name, [...moves.keys()])).map((row) => row.record_id));
      const survivors = [...moves].filter(([to]) => !known.has(to));
      const next = { ...run, end: run.end + survivors.length };
      await saveRun(tx, crm.name, next, now());
      await updateRows(
        tx,
        crm.name,
        seen.map((one) => (one.kind === 'link' ? again(one.row) : one.row)),
      );
      await putRows(
        tx,
        crm.name,
        survivors.map(([to, { row, entity }], at): ScanRow => {
          const position = run.end + at + 1;
          return { ...again(row), record_id: to, position, entity };
        }),
      );
      return next;
    });
    after = rows.at(-1)?.position ?? after;
  }
}

/** A record as its number alone says: it is decided again. */
const again = (row: ScanRow): ScanRow => ({
  ...row,
  verdict: 'matched',
  detail: verdictOf(row.found, false).detail,
});
