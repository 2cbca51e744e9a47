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
 * Rows as one parameter, as a source to select from: its column `value` is the row, read with `each.value ->> 'name'`
 * (cast what is not text). One statement for any number of rows, for the reason given at {@link each}.
 */
export function eachRow(
  db: Db,
  rows: readonly Readonly<Record<string, string | number | null>>[],
): RawBuilder<unknown> {
  const plain = JSON.stringify(rows);
  const json = UNSTORABLE.test(plain)
    ? JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value))
    : plain;
  return engineOf(db) === 'postgres'
    ? sql`jsonb_array_elements(cast(${json} as jsonb)) as each (value)`
    : // The binary form: with text SQLite parses a row anew for every column that is read from it.
      sql`jsonb_each(${json}) as each`;
}

/** How JSON spells a NUL and half a character. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/u;

/** A text as both engines keep it: PostgreSQL takes neither a NUL nor, in JSON, half a character. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');
