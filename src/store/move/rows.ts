/** Reads the rows of a store in pages along the keys of its tables, with values that mean the same on both engines. */
import { type RawBuilder, sql } from 'kysely';
import { readLayout } from '../layout.ts';
import type { Db, Store } from '../store.ts';
import { MARK } from './mark.ts';

/** A value. Integers are digits, because a number cannot hold 64 bits exactly. */
type Value = string | number | null;
export type Row = readonly Value[];

/** A table that both stores have. */
export interface CopiedTable {
  readonly name: string;
  /** In the order of the values in a row. */
  readonly columns: readonly string[];
  /** The columns of its key, in order. */
  readonly keys: readonly string[];
  readonly integers: ReadonlySet<string>;
}

/** The named tables; throws if one differs between the stores. */
export async function commonTables(from: Db, to: Db, names: readonly string[]): Promise<readonly CopiedTable[]> {
  const [ours, theirs] = [await readLayout(from), await readLayout(to)];
  return names.map((name) => {
    const [one, other] = [ours.get(name), theirs.get(name)];
    if (one === undefined || other === undefined || one.columns.join() !== other.columns.join())
      throw new Error(`the table ${name} differs between the stores: a column or a table was added or removed by hand`);
    return { name, columns: one.columns, keys: one.keys, integers: new Set(one.integers) };
  });
}

export interface PageRange {
  /** The key before the first row; null for the beginning of the table. */
  readonly after: Row | null;
  /** The last key; null for the end of the table. */
  readonly until?: Row | null;
  readonly limit: number;
}

/** Rows in the order of their keys. */
export async function readPage(
  { db }: Store,
  table: CopiedTable,
  { after, until = null, limit }: PageRange,
): Promise<readonly Row[]> {
  const column = (name: string) => sql.ref(`${table.name}.${name}`);
  const key = sql.join(table.keys.map(column));
  // Compares the digits of a key as a number. SQLite treats any type with `int` in its name as an integer.
  const placeOf = (row: Row): RawBuilder<unknown> =>
    sql.join(
      row.map((value, at) => (table.integers.has(table.keys[at] ?? '') ? sql`cast(${value} as bigint)` : value)),
    );
  const selected = table.columns.map((name) =>
    table.integers.has(name)
      ? sql`cast(${column(name)} as text) as ${sql.ref(name)}`
      : sql`${column(name)} as ${sql.ref(name)}`,
  );
  const conditions = [
    ...(table.name === 'kv' ? [sql`${column('key')} <> ${MARK}`] : []),
    ...(after === null ? [] : [sql`(${key}) > (${placeOf(after)})`]),
    ...(until === null ? [] : [sql`(${key}) <= (${placeOf(until)})`]),
  ];
  const where = conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
  // Named with the table: otherwise an engine sorts by the digits that it selects.
  const { rows } = await sql<Readonly<Record<string, Value>>>`select ${sql.join(selected)}
    from ${sql.table(table.name)} ${where} order by ${key} limit ${limit}`.execute(db);
  return rows.map((row) => table.columns.map((name) => row[name] ?? null));
}

/** The number of rows to copy from a table. */
export async function countTable({ db }: Store, { name }: CopiedTable): Promise<number> {
  const where = name === 'kv' ? sql`where key <> ${MARK}` : sql``;
  const { rows } = await sql<{ count: number }>`select cast(count(*) as bigint) as count
    from ${sql.table(name)} ${where}`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

export const keyOf = (table: CopiedTable, row: Row): Row =>
  table.keys.map((name) => row[table.columns.indexOf(name)] ?? null);

/** The table and key of a row, for people. */
export const shownKey = (table: CopiedTable, key: Row): string =>
  `${table.name} (${table.keys.map((name, at) => `${name} ${key[at]}`).join(', ')})`;

/** The approximate size of rows, in characters. */
export const sizeOf = (rows: readonly Row[]): number =>
  rows.reduce((sum, row) => sum + row.reduce<number>((all, value) => all + String(value).length, 0), 0);

const FIRST = 200;
const MOST = 2_000;
const LETTERS = 1_000_000;

/** The number of rows for a next page of about a megabyte, from the `size` of the last one. */
export function nextLimit(last: { readonly limit: number; readonly size: number; readonly rows: number } | undefined) {
  if (last === undefined || last.rows === 0) return FIRST;
  const fitting = Math.floor((LETTERS * last.rows) / Math.max(1, last.size));
  return Math.max(1, Math.min(MOST, last.limit * 2, fitting));
}
