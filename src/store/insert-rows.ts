/** Inserts many rows on the hot path, with cached statement texts. */
import { CompiledQuery } from 'kysely';
import { type Engine, engineOf, type Tx } from './store.ts';

/** The target; part of the statement, so use only constants. */
export interface InsertTarget {
  readonly table: string;
  readonly columns: readonly string[];
  /** The end of the statement, such as `on conflict do nothing`. */
  readonly rest?: string;
}

type Value = string | number | null;

const texts = new WeakMap<InsertTarget, Map<string, string>>();

/** Rows in one statement: a larger limit means more cached texts. */
const PART = 100;

/**
 * Inserts rows of values in the order of the columns, a hundred in one statement; returns what `rest` returns. Caches
 * the text for each target object and count, because building it takes longer than running it.
 */
export async function insertRows<Row = never>(
  tx: Tx,
  target: InsertTarget,
  rows: readonly (readonly Value[])[],
): Promise<readonly Row[]> {
  const returned: Row[] = [];
  for (let from = 0; from < rows.length; from += PART) {
    const part = rows.slice(from, from + PART);
    const text = textFor(engineOf(tx), target, part.length);
    returned.push(...(await tx.executeQuery<Row>(CompiledQuery.raw(text, part.flat()))).rows);
  }
  return returned;
}

function textFor(engine: Engine, target: InsertTarget, count: number): string {
  const known = texts.get(target) ?? new Map<string, string>();
  texts.set(target, known);
  const name = `${engine} ${count}`;
  const text = known.get(name) ?? write(engine, target, count);
  known.set(name, text);
  return text;
}

function write(engine: Engine, { table, columns, rest = '' }: InsertTarget, count: number): string {
  const place = (index: number): string => (engine === 'postgres' ? `$${index + 1}` : '?');
  const rows = Array.from(
    { length: count },
    (_, row) => `(${columns.map((_, column) => place(row * columns.length + column)).join(', ')})`,
  );
  return `insert into ${table} (${columns.join(', ')}) values ${rows.join(', ')} ${rest}`;
}
