/** Writes the plan as a file that a spreadsheet opens. */
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseEntityId } from '../../../protocol/entity-id.ts';
import { BYTE_ORDER_MARK, type CsvRow, csvText } from '../../../runtime/files/csv-text.ts';
import type { Db } from '../../../store/store.ts';
import { type BackfillDeps, BackfillError } from '../rows/backfill-context.ts';
import { type Differences, openComparer } from '../rows/expected-differences.ts';
import { type BackfillProgress, lockRun, putRun, readRun } from '../rows/progress.ts';
import { plannedRows, type ScanRow } from '../rows/scan-rows.ts';
import { listRows } from './list-rows.ts';

/** Rows of one step of a download. */
const STEP = 500;

/** The columns a plan file is read by; what else stands in it is for people. */
const PLAN_COLUMNS = ['record', 'name', 'number', 'verdict', 'action', 'note', 'scanned'] as const;

/** Refuses a file that cannot be written: before a scan of an hour, and not after it. */
export function refuseFile(file: string): void {
  if (existsSync(file))
    throw new BackfillError(`${file} is there already, and may hold somebody's work: name another file`);
  if (!existsSync(dirname(file)))
    throw new BackfillError(`there is no folder ${dirname(file)} for the plan: make it, or name another file`);
}

/** Whether the present plan was being written into the file when that was cut: then it needs no other scan. */
export async function wasCut({ store, crm }: Pick<BackfillDeps, 'store' | 'crm'>, file: string): Promise<boolean> {
  const run = await readRun(store.db, crm.name);
  return run?.unwritten === resolve(file) && isAsScanned(run);
}

const isAsScanned = ({ phase, isExact, edits = 0 }: BackfillProgress): boolean =>
  phase === 'planned' && isExact === undefined && edits === 0;

/** Remembers into which file the plan is being written; none once it is. */
async function rememberWriting(
  { store, crm, now }: BackfillDeps,
  { startedAt }: BackfillProgress,
  file: string | undefined,
): Promise<void> {
  await store.write(async (tx) => {
    const run = await lockRun(tx, crm.name);
    if (run?.startedAt === startedAt) await putRun(tx, crm.name, { ...run, unwritten: file }, now());
  });
}

/**
 * Writes every row of the scan; the file is there once it is whole. Throws if one of that name is: it may hold a
 * person's work.
 */
export async function writePlan(
  deps: BackfillDeps,
  run: BackfillProgress,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const { store, crm, report } = deps;
  const comparer = await openComparer(deps, run, signal);
  const header = [...PLAN_COLUMNS, ...comparer.properties.map((name) => `${name}: old → new`)];
  let after = 0;
  await rememberWriting(deps, run, resolve(file));
  await writePlanFile(file, header, async () => {
    signal.throwIfAborted();
    const rows = await plannedRows(store.db, crm.name, { after, limit: crm.limits.batch.read });
    const differences = await comparer.compare(rows, signal);
    after = rows.at(-1)?.position ?? after;
    report({ phase: 'planned', written: rows.length });
    return rows.map((row) => lineOf(row, comparer.properties, differences.get(row.record_id)));
  });
  await rememberWriting(deps, run, undefined);
}

/**
 * Writes a plan file of a header and the lines of each page, until a page is empty. The file is there once it is whole.
 * Throws if one of that name is.
 */
export async function writePlanFile(
  file: string,
  header: readonly string[],
  nextPage: () => Promise<readonly CsvRow[]>,
): Promise<void> {
  // Until it is whole it has another name; a process that was killed left one behind.
  const part = `${file}.part`;
  await rm(part, { force: true });
  // It holds the customers of somebody.
  const handle = await open(part, 'wx', 0o600);
  try {
    await handle.write(BYTE_ORDER_MARK + csvText([header]));
    for (let lines = await nextPage(); lines.length > 0; lines = await nextPage()) await handle.write(csvText(lines));
    await handle.sync();
  } catch (error) {
    await handle.close();
    await rm(part, { force: true });
    throw error;
  }
  await handle.close();
  await rename(part, file);
}

/** The plan of the last scan as the text of a file, some rows at a time. Asks no CRM, so that it has no `old → new`. */
export async function* planText(db: Db, provider: string): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvText([PLAN_COLUMNS]);
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { rows, next } = await listRows(db, provider, {}, { after, limit: STEP });
    if (rows.length > 0) yield csvText(rows.map((row) => lineOf(row, [])));
    after = next;
  }
}

const lineOf = (row: ScanRow, properties: readonly string[], differences: Differences = {}): CsvRow => [
  row.record_id,
  row.name ?? '',
  numberOf(row),
  row.verdict,
  row.action,
  row.detail ?? '',
  row.found ?? '',
  ...properties.map((property) => differences[property] ?? ''),
];

/** Its eight digits if it is a company's, else what the CRM holds. */
const numberOf = ({ entity, found }: ScanRow): string =>
  (entity === null ? undefined : parseEntityId(entity)?.number) ?? found ?? '';
