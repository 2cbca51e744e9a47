/** Writes the plan as a file that a spreadsheet opens: UTF-8 with a mark that says so, parted by semicolons as in Denmark. */
import { open, rename, rm } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { parseEntityId } from '../../../protocol/entity-id.ts';
import type { Db } from '../../../store/store.ts';
import type { BackfillDeps } from '../rows/context.ts';
import { type Differences, openComparer } from '../rows/differences.ts';
import { plannedRows, type ScanRow } from '../rows/rows.ts';
import type { BackfillRun } from '../rows/run.ts';
import { listRows } from './list.ts';

/** Rows of one step of a download. */
const STEP = 500;

/** The columns a plan file is read by; what else stands in it is for people. */
const PLAN_COLUMNS = ['record', 'name', 'number', 'verdict', 'action', 'note', 'scanned'] as const;

const BOM = '\uFEFF';

/**
 * Writes every row of the scan; the file is there once it is whole. Throws where one of that name is: it may hold a
 * person's work.
 */
export async function writePlan(
  deps: BackfillDeps,
  run: BackfillRun,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const { store, crm, report } = deps;
  const comparer = await openComparer(deps, run, signal);
  const header = [...PLAN_COLUMNS, ...comparer.properties.map((name) => `${name}: old → new`)];
  let after = 0;
  await writePlanFile(file, header, async () => {
    signal.throwIfAborted();
    const rows = await plannedRows(store.db, crm.name, { after, limit: crm.limits.batch.read });
    const differences = await comparer.compare(rows, signal);
    after = rows.at(-1)?.position ?? after;
    report({ phase: 'planned', written: rows.length });
    return rows.map((row) => lineOf(row, comparer.properties, differences.get(row.record_id)));
  });
}

/**
 * Writes a plan file of a header and the lines of each page, until a page is empty. The file is there once it is whole.
 * Throws where one of that name is.
 */
export async function writePlanFile(
  file: string,
  header: readonly string[],
  nextPage: () => Promise<readonly (readonly string[])[]>,
): Promise<void> {
  // Until it is whole it has another name; a run that was killed left one behind.
  const part = `${file}.part`;
  await rm(part, { force: true });
  // It holds the customers of somebody.
  const handle = await open(part, 'wx', 0o600);
  try {
    await handle.write(BOM + csv([header]));
    for (let lines = await nextPage(); lines.length > 0; lines = await nextPage()) await handle.write(csv(lines));
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
  yield BOM + csv([PLAN_COLUMNS]);
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { rows, next } = await listRows(db, provider, {}, { after, limit: STEP });
    if (rows.length > 0) yield csv(rows.map((row) => lineOf(row, [])));
    after = next;
  }
}

const lineOf = (row: ScanRow, properties: readonly string[], differences: Differences = {}): readonly string[] => [
  row.record_id,
  row.name ?? '',
  numberOf(row),
  row.verdict,
  row.action,
  row.detail ?? '',
  row.found ?? '',
  ...properties.map((property) => differences[property] ?? ''),
];

/** Its eight digits where it is a company's, else what the CRM holds. */
const numberOf = ({ entity, found }: ScanRow): string =>
  (entity === null ? undefined : parseEntityId(entity)?.number) ?? found ?? '';

/**
 * A cell that begins like a formula would be one in a spreadsheet: it is preceded by an apostrophe. So is what begins a
 * cell for a spreadsheet of another country, which parts them at commas.
 */
const csv = (lines: readonly (readonly string[])[]): string =>
  stringify(
    lines.map((line) => line.map(escaped)),
    { delimiter: ';', escape_formulas: true, record_delimiter: 'windows' },
  );

const escaped = (cell: string): string =>
  cell.replaceAll(/[\r\n]+/gu, ' ').replaceAll(/[,;\s"]+/gu, (run, at: number, whole: string) => {
    const next = whole.charAt(at + run.length);
    return /[,;\t]/u.test(run) && next !== '' && '=+-@'.includes(next) ? `${run}'` : run;
  });
