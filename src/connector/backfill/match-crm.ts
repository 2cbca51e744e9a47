/**
 * Matches the records of a CRM that have no number: reads them by the scan of a backfill, a page at a time. A page's results
 * and the position behind it are one transaction, so that the next run continues one that was stopped.
 */
import { readAnswers } from '../../match/decide/answers.ts';
import type { Answers } from '../../match/decide/probability.ts';
import { matchRecords } from '../../match/match.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Tx } from '../../store/store.ts';
import { readRecordText, type TextProperties, textProperties } from '../match/record-text.ts';
import { deleteScanResults, type MatchedRecord, putResults, readRejections } from '../match/results.ts';
import { withoutValidNumber } from '../match/valid-number.ts';
import { runBackfill } from './backfill.ts';
import type { BackfillOptions } from './options.ts';
import type { BackfillDeps } from './rows/backfill-context.ts';
import { patiently } from './rows/patience.ts';
import { readRun } from './rows/progress.ts';
import { plannedRows, type ScanRow } from './rows/scan-rows.ts';

/** Where a match is: of which scan, up to which of its rows. */
interface MatchPosition {
  readonly scan: number;
  readonly position: number;
  readonly isDone: boolean;
}

/** Scans and matches, or continues a match that was stopped. Links nothing. */
export async function matchCrm(deps: BackfillDeps, options: BackfillOptions, signal: AbortSignal): Promise<void> {
  const { store, crm } = deps;
  const before = await readPosition(store.db, crm.name);
  const last = await readRun(store.db, crm.name);
  const isBegun = before !== undefined && !before.isDone && last?.phase === 'planned' && last.startedAt === before.scan;
  const run = isBegun ? last : await runBackfill(deps, options, signal);
  let reached: MatchPosition = isBegun ? before : { scan: run.startedAt, position: 0, isDone: false };
  if (!isBegun) await store.write((tx) => beginAnew(tx, crm.name, reached, deps.now()));
  const properties = textProperties(crm, await patiently(deps, () => crm.schema(signal), signal));
  const answers = await readAnswers(store.db);
  while (!reached.isDone) {
    signal.throwIfAborted();
    const rows = await plannedRows(store.db, crm.name, { after: reached.position, limit: crm.limits.batch.read });
    const results = await matchPage(deps, await withoutValidNumber(store.db, rows), { properties, answers }, signal);
    const last = rows.at(-1)?.position;
    reached = last === undefined ? { ...reached, isDone: true } : { ...reached, position: last };
    const next = reached;
    await store.write(async (tx) => {
      await savePosition(tx, crm.name, next, deps.now());
      await putResults(tx, crm.name, results);
    });
    deps.report({ matched: { done: next.position, total: run.end } });
  }
}

async function matchPage(
  deps: BackfillDeps,
  rows: readonly ScanRow[],
  { properties, answers }: { readonly properties: TextProperties; readonly answers: Answers },
  signal: AbortSignal,
): Promise<readonly MatchedRecord[]> {
  if (rows.length === 0) return [];
  const { crm, store } = deps;
  const ids = rows.map((row) => row.record_id);
  const names = [...new Set(Object.values(properties).flat())];
  const reads = await patiently(deps, () => crm.connection.read(ids, names, signal), signal);
  const found = rows.flatMap((row, at) => {
    const read = reads[at];
    // A record that is gone or merged is none of this match; the next scan sees what became of it.
    return read?.kind === 'found' ? [{ row, record: readRecordText(properties, read.properties, row.found) }] : [];
  });
  const rejections = await readRejections(store.db, crm.name, ids);
  const results = await matchRecords(
    store.db,
    found.map(({ record }) => record),
    { rejected: found.map(({ row }) => rejections.get(row.record_id) ?? NOTHING), answers },
  );
  return found.flatMap(({ row, record }, at) => {
    const result = results[at];
    return result === undefined ? [] : [{ recordId: row.record_id, position: row.position, record, ...result }];
  });
}

const NOTHING: ReadonlySet<string> = new Set();

const keyOf = (provider: string): string => `match-run:${provider}`;

async function readPosition(db: Db, provider: string): Promise<MatchPosition | undefined> {
  const text = await readValue(db, keyOf(provider));
  return text === undefined ? undefined : JSON.parse(text);
}

const savePosition = (tx: Tx, provider: string, position: MatchPosition, now: number): Promise<void> =>
  writeValue(tx, keyOf(provider), JSON.stringify(position), now);

async function beginAnew(tx: Tx, provider: string, position: MatchPosition, now: number): Promise<void> {
  await deleteScanResults(tx, provider);
  await savePosition(tx, provider, position, now);
}
