/** Inserts of many rows on the hot path, by statements whose text is made once. */
import { CompiledQuery } from 'kysely';
import { type Engine, engineOf, type Tx } from './store.ts';

/** Where rows go. Constants of ours: they become part of a statement. */
export interface InsertTarget {
  readonly table: string;
  readonly columns: readonly string[];
  /** What follows the rows, as `on conflict do nothing`. */
  readonly rest?: string;
}

type Value = string | number | null;

const texts = new WeakMap<InsertTarget, Map<string, string>>();

/**
 * Inserts rows, each with a value for every column in their order, in one statement; returns what the target's `rest`
 * returns. The text is kept for each target and count, since building it takes longer than running it: few rows (up to a
 * hundred), few counts. One target is one constant.
 */
export async function insertRows<Row = never>(
  tx: Tx,
  target: InsertTarget,
  rows: readonly (readonly Value[])[],
): Promise<readonly Row[]> {
  if (rows.length === 0) return [];
  const result = await tx.executeQuery<Row>(CompiledQuery.raw(textFor(engineOf(tx), target, rows.length), rows.flat()));
  return result.rows;
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
