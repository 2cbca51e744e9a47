/** Takes in a plan file: understood whole before anything of it counts, then exactly that file. */
import { statSync } from 'node:fs';
import type { CsvProblem } from '../../../runtime/files/csv-rows.ts';
import { type Erasures, readErasures } from '../../../store/erasure/erasures.ts';
import type { Db } from '../../../store/store.ts';
import type { Crm } from '../../crm/crm.ts';
import { type IdReader, readRecordId } from '../../crm/record-id.ts';
import { UNSURE } from '../../follow/verdict.ts';
import { rejectMatches } from '../../match/answer.ts';
import { type BackfillDeps, BackfillError } from '../rows/backfill-context.ts';
import { forgetCounts, keepCounts } from '../rows/counts.ts';
import { type BackfillProgress, holdRun, isScanning, readRun } from '../rows/progress.ts';
import { resetActions, rowsById, type ScanRow, updateRows } from '../rows/scan-rows.ts';
import { openWarnings, type PlanWarnings } from './doubts.ts';
import { isTooMany, movedNumbers, ownOf } from './moved-numbers.ts';
import { type PlanLine, readPlan } from './read-plan.ts';
import { answersOf, rowOfLine } from './row-of-line.ts';
import { rememberSkips } from './skipped.ts';

/** A plan file that cannot be applied: every problem is listed with its line. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
  readonly problems: readonly CsvProblem[];
  /** How many there are; not all of them are named. */
  readonly count: number;

  constructor(file: string, problems: readonly CsvProblem[], count: number) {
    const shown = problems.map(({ line, problem }) => `\n  line ${line}: ${problem}`).join('');
    const rest = count > problems.length ? `\n  and ${count - problems.length} more` : '';
    super(`the plan ${file} cannot be applied, and nothing of it was:${shown}${rest}`);
    this.problems = problems;
    this.count = count;
  }
}

/** The connection a plan is of. */
type PlanCrm = IdReader & Pick<Crm, 'name'>;

/** What a file asks for. */
export interface PlanRead {
  readonly toLink: number;
  /** Lines whose number lost a leading zero in a spreadsheet. */
  readonly repaired: number;
  /** Lines that are not linked. */
  readonly skipped: number;
  /** Of those to link: linked to that company already. */
  readonly linked: number;
  readonly warnings: PlanWarnings;
  /** Some lines whose number is a person's: what the record holds, and what it is to be linked as. */
  readonly given: readonly { readonly record: string; readonly found: string; readonly number: string }[];
}

const MOVED =
  'would get the number of another record: was a column sorted or moved without the others? If this is intended, correct the numbers in the CRM and make the plan again';

const PAGE = 500;
const MOST_PROBLEMS = 20;

/** Reads the whole file beside the scan, changing nothing. Throws {@link PlanError} if a line cannot be followed. */
export async function checkPlan(db: Db, crm: PlanCrm, file: string, signal: AbortSignal): Promise<PlanRead> {
  const { name: provider } = crm;
  const problems: Problems = { first: [], count: 0 };
  const moved: Problems = { first: [], count: 0 };
  const check = openLineCheck(problems, provider, await readErasures(db));
  for await (const page of pagesOf(file, crm)) {
    signal.throwIfAborted();
    const rows = await rowsFor(db, provider, page);
    for (const one of page)
      if ('problem' in one) addProblem(problems, one);
      else check.line(one, rows.get(one.recordId));
    const lines = page.flatMap((one) => ('problem' in one ? [] : one));
    for (const one of await movedNumbers(db, provider, lines, rows)) addProblem(moved, one);
  }
  const result = check.result();
  if (isTooMany(moved.count, result.toLink)) {
    addProblem(problems, { line: 1, problem: `${moved.count} records ${MOVED}` });
    for (const one of moved.first) addProblem(problems, one);
    problems.count += moved.count - moved.first.length;
  }
  if (problems.count > 0)
    throw new PlanError(
      file,
      problems.first.toSorted((a, b) => a.line - b.line),
      problems.count,
    );
  return result;
}

export const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() === true;

/** Says what a plan file would do, by the scan that it was made of. Changes nothing and makes no call. */
export async function tryPlan(
  { store, crm }: Pick<BackfillDeps, 'store' | 'crm'>,
  file: string,
  signal: AbortSignal,
): Promise<PlanRead> {
  if (!isFile(file)) throw new BackfillError(`there is no plan ${file}`);
  const before = await readRun(store.db, crm.name);
  if (before === undefined || isScanning(before.phase))
    throw new BackfillError(
      `no scan of ${crm.name} is finished in this store: make the plan here first, with cvrsync backfill ${crm.name} --plan FILE`,
    );
  return checkPlan(store.db, crm, file, signal);
}

/** The first problems of a plan, and how many there are. */
interface Problems {
  readonly first: CsvProblem[];
  count: number;
}

function addProblem(problems: Problems, one: CsvProblem): void {
  problems.count += 1;
  if (problems.first.length < MOST_PROBLEMS) problems.first.push({ line: one.line, problem: one.problem });
}

/** Checks the lines of a plan against the scan, and counts what the valid ones ask for. */
function openLineCheck(
  problems: Problems,
  provider: string,
  erasures: Erasures,
): { line(one: PlanLine, row: ScanRow | undefined): void; result(): PlanRead } {
  const seen = new Map<string, number>();
  const tally = openTally();
  return {
    line(one, row) {
      const problem = problemOf(one, row, seen.get(one.recordId), provider) ?? erasedProblem(one, erasures);
      seen.set(one.recordId, one.line);
      if (problem === undefined && row !== undefined) tally.add(one, row);
      else addProblem(problems, { line: one.line, problem: problem ?? 'is not known' });
    },
    result: tally.result,
  };
}

/** Counts what the lines of a plan ask for, in the order of the file. */
function openTally(): { add(line: PlanLine, row: ScanRow): void; result(): PlanRead } {
  const warnings = openWarnings();
  const given: PlanRead['given'][number][] = [];
  const counts = { toLink: 0, skipped: 0, linked: 0, repaired: 0 };
  return {
    add(line, row) {
      const own = ownOf(row);
      warnings.see(line, { verdict: row.verdict, own, isUnsure: UNSURE.includes(row.detail) });
      if (line.repaired) counts.repaired += 1;
      counts[line.action === 'link' ? 'toLink' : 'skipped'] += 1;
      if (line.action !== 'link') return;
      if (row.verdict === 'linked' && own === line.entity) counts.linked += 1;
      if (own !== line.entity && given.length < MOST_PROBLEMS)
        given.push({ record: line.recordId, found: row.found ?? '', number: line.number });
    },
    result: () => ({ ...counts, warnings: warnings.counts(), given }),
  };
}

function problemOf(
  { recordId, action, entity, number }: PlanLine,
  row: ScanRow | undefined,
  before: number | undefined,
  provider: string,
): string | undefined {
  if (before !== undefined) return `record ${recordId} is already in line ${before}`;
  if (row === undefined)
    return `record ${recordId} is not among those that were scanned: is this a plan of ${provider}, and the newest one?`;
  if (action === 'link' && entity === undefined)
    return `record ${recordId} cannot be linked: ${number === '' ? 'it has no number' : `${number} is not a CVR number`}`;
  return undefined;
}

const erasedProblem = ({ recordId, action, entity }: PlanLine, { has }: Erasures): string | undefined =>
  action === 'link' && entity !== undefined && has(entity)
    ? `record ${recordId} cannot be linked: ${entity} was erased`
    : undefined;

/** Makes the scan say what the file says: what it does not link is not to be linked. May be repeated. */
export async function takeLines(
  { store, crm, now }: Pick<BackfillDeps, 'store' | 'crm' | 'now'>,
  run: BackfillProgress,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const provider = crm.name;
  await store.write(async (tx) => {
    await holdRun(tx, provider, run);
    await forgetCounts(tx, provider);
  });
  for (let from = 0; from < run.end; from += PAGE) {
    signal.throwIfAborted();
    await store.write(async (tx) => {
      await holdRun(tx, provider, run);
      await resetActions(tx, provider, from, from + PAGE);
    });
  }
  for await (const page of pagesOf(file, crm)) {
    signal.throwIfAborted();
    const rows = await rowsFor(store.db, provider, page);
    const changed = page.flatMap((one): ScanRow[] => {
      const row = 'problem' in one || one.action === 'skip' ? undefined : rows.get(one.recordId);
      return row === undefined || 'problem' in one ? [] : [rowOfLine(row, one)];
    });
    const { skips, links, rejected } = answersOf(page, rows);
    await store.write(async (tx) => {
      await holdRun(tx, provider, run);
      await rememberSkips(tx, provider, skips, links);
      await rejectMatches(tx, provider, rejected, now());
      await updateRows(tx, provider, changed);
    });
  }
  await keepCounts(store, provider, run, now);
}

async function* pagesOf(
  file: string,
  crm: IdReader,
): AsyncGenerator<readonly (PlanLine | CsvProblem)[], void, undefined> {
  let page: (PlanLine | CsvProblem)[] = [];
  for await (const one of readPlan(file, (text) => readRecordId(crm, text))) {
    page.push(one);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

async function rowsFor(
  db: Db,
  provider: string,
  page: readonly (PlanLine | CsvProblem)[],
): Promise<ReadonlyMap<string, ScanRow>> {
  const ids = page.flatMap((one) => ('problem' in one ? [] : one.recordId));
  return new Map((await rowsById(db, provider, ids)).map((row) => [row.record_id, row]));
}
