import { type RawBuilder, sql } from 'kysely';
import { type Db, engineOf } from './store.ts';

/**
 * A list as one parameter, in its order: for `where(column, 'in', each(db, values))`, or to select `value` from. The
 * text of the statement does not depend on the length of the list, so SQLite compiles it once. With a parameter for
 * each value it would compile one for each length, and free their memory only at JavaScript's garbage collection.
 */
export function each(db: Db, values: readonly string[]): RawBuilder<string> {
  return engineOf(db) === 'postgres'
    ? sql<string>`(select value from unnest(cast(${values} as text[])) as value)`
    : sql<string>`(select value from json_each(${JSON.stringify(values)}))`;
}

/**
 * Rows as one parameter: a table `each` with these columns, for the reason given at {@link each}. Cast what is not
 * text: PostgreSQL returns all columns as text. Column names become part of the statement, so use only constants.
 */
export function eachRow<Column extends string>(
  db: Db,
  columns: readonly Column[],
  rows: readonly Readonly<Record<NoInfer<Column>, string | number | null>>[],
): RawBuilder<unknown> {
  // As lists: column names in every row double the size and the time.
  const lists = rows.map((row) => columns.map((column) => row[column]));
  const json = storableJson(lists);
  const read = sql.raw(columns.map((column, at) => `value ->> ${at} as "${column}"`).join(', '));
  return engineOf(db) === 'postgres'
    ? sql`(select ${read} from jsonb_array_elements(cast(${json} as jsonb)) as list (value)) as each`
    : // The binary form: with text SQLite parses a row again for every column that is read from it.
      sql`(select ${read} from jsonb_each(${json})) as each`;
}

/** The elements of a JSON list in a column, as a table with a `value`; no rows if the column is null. */
export const elements = (db: Db, column: string): RawBuilder<unknown> =>
  engineOf(db) === 'postgres'
    ? sql`jsonb_array_elements(cast(${sql.ref(column)} as jsonb))`
    : sql`json_each(${sql.ref(column)})`;

/** A NUL or a lone surrogate in JSON. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/u;

/** JSON that both engines can store. */
export function storableJson(value: object): string {
  const plain = JSON.stringify(value);
  if (!UNSTORABLE.test(plain)) return plain;
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? storable(each) : each));
}

const DOUBTFUL = /[\0\ud800-\udfff]/;

/** A text that both engines can store: PostgreSQL accepts no NUL, and no lone surrogate in JSON. */
export const storable = (text: string): string =>
  DOUBTFUL.test(text) ? text.toWellFormed().replaceAll('\0', '\uFFFD') : text;

/** Parses a column of JSON. Returns the text if it is not JSON, so that a row of another version breaks no reader. */
export function jsonOrText(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
