/** The counters of serial keys: a copy continues after the last number assigned, even if its row was deleted. */
import { sql } from 'kysely';
import type { Store, Tx } from '../store.ts';
import type { CopiedTable } from './rows.ts';

interface Counter {
  readonly table: string;
  /** The column that the engine numbers. */
  readonly column: string;
  /** The last number assigned, in digits; 0 before the first. */
  readonly last: string;
}

/** The counters of the tables that have one. */
export async function readCounters({ db, engine }: Store, tables: readonly CopiedTable[]): Promise<readonly Counter[]> {
  if (engine === 'sqlite') {
    const { rows } = await sql<{ table: string; last: string }>`select name as "table", cast(seq as text) as last
      from sqlite_sequence`.execute(db);
    return rows.flatMap((row) => {
      const column = tables.find(({ name }) => name === row.table)?.keys[0];
      return column === undefined ? [] : [{ ...row, column }];
    });
  }
  const counters: Counter[] = [];
  for (const { name: table, keys } of tables) {
    const [column = ''] = keys;
    const { rows } = await sql<{ sequence: string | null }>`select pg_get_serial_sequence(${quoted(table)}, ${column})
      as sequence`.execute(db);
    const sequence = rows[0]?.sequence ?? null;
    if (sequence === null) continue;
    const { rows: states } = await sql<{ last: string }>`select cast(case when is_called then last_value else 0 end
      as text) as last from ${sql.raw(sequence)}`.execute(db);
    counters.push({ table, column, last: states[0]?.last ?? '0' });
  }
  return counters;
}

/** Sets the counters of the copy. */
export async function writeCounters(tx: Tx, engine: Store['engine'], counters: readonly Counter[]): Promise<void> {
  for (const { table, column, last } of counters) {
    if (last === '0') continue;
    if (engine === 'postgres')
      await sql`select setval(cast(pg_get_serial_sequence(${quoted(table)}, ${column}) as regclass),
        cast(${last} as bigint))`.execute(tx);
    else {
      await sql`delete from sqlite_sequence where name = ${table}`.execute(tx);
      await sql`insert into sqlite_sequence (name, seq) values (${table}, cast(${last} as integer))`.execute(tx);
    }
  }
}

/** A quoted name, because some are SQL keywords. */
const quoted = (name: string): string => `"${name}"`;
