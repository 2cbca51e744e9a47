/** Copies the rows of a store into a store of either engine, and compares both row by row. */
import { createHash } from 'node:crypto';
import { lockUntilCommit } from '../advisory-lock.ts';
import { type InsertTarget, insertRows } from '../insert-rows.ts';
import type { Store, Tx } from '../store.ts';
import { readCounters, writeCounters } from './counters.ts';
import { type Position, readMark, type TargetMark, writeMark } from './mark.ts';
import { type CopiedTable, keyOf, nextLimit, type Row, readPage, shownKey, sizeOf } from './rows.ts';

export interface CopyDeps {
  readonly from: Store;
  readonly to: Store;
  /** In a fixed order, so that a copy can resume. */
  readonly tables: readonly CopiedTable[];
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Called after each page, with the number of its rows. */
  report(rows: number): void;
  /** The most rows of a page; for tests. */
  readonly mostRows?: number;
}

/** Copies the rows after the position in the copy's mark. Moves the mark in the transaction of each page. */
export async function copyRows(deps: CopyDeps): Promise<void> {
  const { from, to, tables } = deps;
  const start = (await readTarget(to)).at;
  const begun = start === null ? 0 : tables.findIndex(({ name }) => name === start.table);
  for (const table of tables.slice(begun)) await copyTable(deps, table, start?.table === table.name ? start.key : null);
  const counters = await readCounters(from, tables);
  await to.write((tx) => writeCounters(tx, to.engine, counters));
}

async function copyTable(deps: CopyDeps, table: CopiedTable, start: Row | null): Promise<void> {
  const { to, now } = deps;
  const target = insertTarget(table);
  let after = start;
  for await (const rows of pagesOf(deps, table, start)) {
    const last = rows.at(-1);
    if (last === undefined) continue;
    requireStorable(to, table, rows);
    const key = keyOf(table, last);
    const was = after;
    await to.write(async (tx) => {
      await movePosition(tx, { table, was, key }, now());
      await insertRows(tx, target, rows);
    });
    after = key;
    deps.report(rows.length);
  }
}

async function* pagesOf(
  { from, signal, mostRows = Number.POSITIVE_INFINITY }: CopyDeps,
  table: CopiedTable,
  start: Row | null,
): AsyncGenerator<readonly Row[]> {
  let after = start;
  let last: Parameters<typeof nextLimit>[0];
  for (;;) {
    signal.throwIfAborted();
    const limit = Math.min(mostRows, nextLimit(last));
    const rows = await readPage(from, table, { after, limit });
    yield rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < limit) return;
    after = keyOf(table, end);
    last = { limit, size: sizeOf(rows), rows: rows.length };
  }
}

/** Quotes the names, because some are SQL keywords. */
const insertTarget = ({ name, columns }: CopiedTable): InsertTarget => ({
  table: `"${name}"`,
  columns: columns.map((column) => `"${column}"`),
});

/** Names the row with a NUL, which only another program can have written (`each.ts`); PostgreSQL's error would not. */
function requireStorable({ engine }: Store, table: CopiedTable, rows: readonly Row[]): void {
  if (engine !== 'postgres') return;
  const bad = rows.find((row) => row.some((value) => typeof value === 'string' && value.includes('\0')));
  if (bad !== undefined)
    throw new Error(`${shownKey(table, keyOf(table, bad))} holds a NUL character, which PostgreSQL cannot store`);
}

/** Moves the position in the mark. Throws if another process moved it, too. */
async function movePosition(
  tx: Tx,
  { table, was, key }: { readonly table: CopiedTable; readonly was: Row | null; readonly key: Row },
  now: number,
): Promise<void> {
  await lockUntilCommit(tx, 'copy', 'exclusive');
  const mark = await readTarget({ db: tx });
  const isOurs = was === null ? mark.at?.table !== table.name : isSame(mark.at, { table: table.name, key: was });
  if (!isOurs) throw new Error('another cvrsync store copy writes to the same copy: wait until it ends');
  await writeMark(tx, { ...mark, at: { table: table.name, key } }, now);
}

const isSame = (one: Position | null, other: Position): boolean => JSON.stringify(one) === JSON.stringify(other);

async function readTarget({ db }: Pick<Store, 'db'>): Promise<TargetMark> {
  const mark = await readMark(db);
  if (mark?.role !== 'target') throw new Error('the copy lost its mark: another process finished or changed it');
  return mark;
}

/** The result of comparing a table. */
export interface CheckedTable {
  readonly table: string;
  readonly rows: number;
  /** SHA-256 over all rows, equal in both stores, in hexadecimal digits. */
  readonly digest: string;
}

/** Compares the stores page by page, by digest and count. Throws at the first row that differs, and names it. */
export async function checkRows(deps: CopyDeps): Promise<readonly CheckedTable[]> {
  const checked: CheckedTable[] = [];
  for (const table of deps.tables) checked.push(await checkTable(deps, table));
  const { from, to, tables } = deps;
  const behind = new Map((await readCounters(to, tables)).map(({ table, last }) => [table, last]));
  for (const { table, last } of await readCounters(from, tables))
    if (last !== '0' && behind.get(table) !== last)
      throw new CopyDiffersError(`the counter of ${table} is ${behind.get(table) ?? 0}, not ${last}`);
  return checked;
}

async function checkTable(deps: CopyDeps, table: CopiedTable): Promise<CheckedTable> {
  const hash = createHash('sha256');
  let [after, count]: [Row | null, number] = [null, 0];
  for await (const rows of pagesOf(deps, table, null)) {
    const end = rows.at(-1);
    if (end === undefined) continue;
    const key = keyOf(table, end);
    const theirs = await readPage(deps.to, table, { after, until: key, limit: rows.length + 1 });
    const [digest, other] = [digestOf(rows), digestOf(theirs)];
    if (rows.length !== theirs.length || digest !== other) throw differenceOf(table, rows, theirs);
    hash.update(digest);
    after = key;
    count += rows.length;
    deps.report(rows.length);
  }
  const [more] = await readPage(deps.to, table, { after, limit: 1 });
  if (more !== undefined) throw differenceOf(table, [], [more]);
  return { table: table.name, rows: count, digest: hash.digest('hex') };
}

const digestOf = (rows: readonly Row[]): string => createHash('sha256').update(JSON.stringify(rows)).digest('hex');

/** The copy differs from the store. */
class CopyDiffersError extends Error {
  override readonly name = 'CopyDiffersError';

  constructor(difference: string) {
    super(
      `the copy differs: ${difference}. Did something change either store during the copy? Nothing uses the copy yet: ` +
        'empty its database or delete its file, and run cvrsync store copy again',
    );
  }
}

/** The error for the first row that differs. */
function differenceOf(table: CopiedTable, rows: readonly Row[], theirs: readonly Row[]): CopyDiffersError {
  const copied = new Map(theirs.map((row) => [JSON.stringify(keyOf(table, row)), JSON.stringify(row)]));
  for (const row of rows) {
    const key = keyOf(table, row);
    const copy = copied.get(JSON.stringify(key));
    copied.delete(JSON.stringify(key));
    if (copy === undefined) return new CopyDiffersError(`it lacks ${shownKey(table, key)}`);
    if (copy !== JSON.stringify(row)) return new CopyDiffersError(`${shownKey(table, key)} differs in it`);
  }
  const extra = theirs.find((row) => copied.has(JSON.stringify(keyOf(table, row))));
  return new CopyDiffersError(
    extra === undefined ? `${table.name} is in another order` : `${shownKey(table, keyOf(table, extra))} is only in it`,
  );
}
