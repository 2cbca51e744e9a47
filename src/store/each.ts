import { type RawBuilder, sql } from 'kysely';
import { type Db, engineOf } from './store.ts';

/**
 * A list as one parameter, in its order: for `where(column, 'in', each(db, values))`, or to select `value` from.
 *
 * However long the list, the statement stays the same. SQLite keeps it compiled; with a parameter for each value it would
 * compile one for every length, and the memory of those is only given back when JavaScript happens to collect them.
 */
export function each(db: Db, values: readonly string[]): RawBuilder<string> {
  return engineOf(db) === 'postgres'
    ? sql<string>`(select value from unnest(cast(${values} as text[])) as value)`
    : sql<string>`(select value from json_each(${JSON.stringify(values)}))`;
}

/**
 * Rows as one parameter, as a table `each` with these columns to select from. One statement for any number of rows, for the
 * reason given at {@link each}. Cast what is not text: PostgreSQL gives all columns as text. The names of columns are
 * constants of ours: they become part of the statement.
 */
export function eachRow<Column extends string>(
  db: Db,
  columns: readonly Column[],
  rows: readonly Readonly<Record<NoInfer<Column>, string | number | null>>[],
): RawBuilder<unknown> {
  // As lists: the names of the columns, again in every row, were half of the text and of the time that it takes.
  const lists = rows.map((row) => columns.map((column) => row[column]));
  const json = storableJson(lists);
  const read = sql.raw(columns.map((column, at) => `value ->> ${at} as "${column}"`).join(', '));
  return engineOf(db) === 'postgres'
    ? sql`(select ${read} from jsonb_array_elements(cast(${json} as jsonb)) as list (value)) as each`
    : // The binary form: with text SQLite parses a row anew for every column that is read from it.
      sql`(select ${read} from jsonb_each(${json})) as each`;
}

/** The elements of a JSON list in a column of the row, as a table with their `value`; none if the column is null. */
export const elements = (db: Db, column: string): RawBuilder<unknown> =>
  engineOf(db) === 'postgres'
    ? sql`jsonb_array_elements(cast(${sql.ref(column)} as jsonb))`
    : sql`json_each(${sql.ref(column)})`;

/** How JSON spells a NUL and half a character. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/u;

/** JSON of a value as both engines keep it. */
export function storableJson(value: object): string {
  const plain = JSON.stringify(value);
  if (!UNSTORABLE.test(plain)) return plain;
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? storable(each) : each));
}

const DOUBTFUL = /[\0\ud800-\udfff]/;

/** A text as both engines keep it: PostgreSQL takes neither a NUL nor, in JSON, half a character. */
export const storable = (text: string): string =>
  DOUBTFUL.test(text) ? text.toWellFormed().replaceAll('\0', '\uFFFD') : text;

/** A column of JSON as a value. What is no JSON is the text that it is: a row of another version must not break its reader. */
export function jsonOrText(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
