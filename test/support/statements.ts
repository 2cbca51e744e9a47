/**
 * The statements that a run gave SQLite, run on PostgreSQL too: most tests use SQLite alone, and a statement that PostgreSQL
 * refuses, for its syntax, a name or a type, must not wait for a customer.
 */
import { Client, DatabaseError } from 'pg';

/** A statement as SQLite got it, with the values of its first time and the test that ran it. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly test: string;
}

/** Statements of one shape differ in nothing but their values and the length of their lists. */
export const shapeOf = (sql: string): string =>
  sql.replaceAll(/\?(?:, \?)+/g, '?').replaceAll(/\(\?\)(?:, \(\?\))+/g, '(?)');

/** What changes or reads rows, and no table. */
const IS_OF_ROWS = /^\s*(?:select|insert|update|delete|with)\b/iu;

/**
 * What only SQLite is asked: the code asks PostgreSQL in another way, and a test of that runs on both. `remark` is the column that
 * such a test adds.
 */
const OF_SQLITE = /json_patch\(|->> '\$|max\(rowid\)|sqlite_|pragma|coalesce\(wanted\.least|"remark"/u;

export const isOfBoth = (sql: string): boolean => IS_OF_ROWS.test(sql) && !OF_SQLITE.test(sql);

/** The statement and its values as PostgreSQL gets them: the placeholders, and the lists of `src/store/each.ts`. */
export function forPostgres({ sql, parameters }: Statement): { text: string; values: readonly unknown[] } {
  const values = [...parameters];
  const text = sql
    .split('?')
    .reduce((before, after, at) => `${before}$${at}${after}`)
    .replaceAll(/\(select value from json_each\(\$(\d+)\)\)/g, (_, number: string) => {
      values[Number(number) - 1] = JSON.parse(String(values[Number(number) - 1]));
      return `(select value from unnest(cast($${number} as text[])) as value)`;
    })
    .replaceAll(/ from jsonb_each\((\$\d+)\)\)/g, ' from jsonb_array_elements(cast($1 as jsonb)) as list (value))')
    .replaceAll(/json_each\(("[^)]+")\)/g, 'jsonb_array_elements(cast($1 as jsonb))');
  return { text, values };
}

/** Runs each statement on a database with the tables and no rows, and undoes it. Returns what PostgreSQL refuses, with the reason. */
export async function refusedBy(url: string, statements: Iterable<Statement>): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const refused: string[] = [];
  for (const statement of statements) {
    const { text, values } = forPostgres(statement);
    await client.query('begin');
    try {
      await client.query(text, [...values]);
    } catch (error) {
      if (!isOfMissingRows(error)) refused.push(`${String(error)}\n  ${text}\n  in ${statement.test}`);
    }
    await client.query('rollback');
  }
  await client.end();
  return refused;
}

/** A row that another one asks for is not there: PostgreSQL understood the statement. */
const isOfMissingRows = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code ?? '').startsWith('23');
