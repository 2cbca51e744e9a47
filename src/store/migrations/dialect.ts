/** How the two engines spell a table. */
import { type CreateTableBuilder, type RawBuilder, sql } from 'kysely';
import type { Engine, Tx } from '../store.ts';

export type Migration = (tx: Tx, engine: Engine) => Promise<void>;

export interface Dialect {
  /** Compared byte by byte on both engines, so that keys sort alike in SQL on either and nearly so in JavaScript. */
  readonly text: RawBuilder<unknown> | 'text';
  readonly integer: 'integer' | 'bigint';
  readonly fraction: 'real' | 'double precision';
  /** A table that is found by its text key alone: SQLite keeps it in one tree instead of two. */
  table(name: string): CreateTableBuilder<string, string>;
  /** The same for rows over a kilobyte: in one tree, SQLite would give each some pages of its own. */
  wideTable(name: string): CreateTableBuilder<string, string>;
  /** A table with a key the engine counts up and never reuses. */
  serial(name: string, key: string): CreateTableBuilder<string, string>;
}

/** The words for one engine. */
export function dialect(tx: Tx, engine: Engine): Dialect {
  const create = (name: string): CreateTableBuilder<string, string> => tx.schema.createTable(name);
  if (engine === 'postgres') {
    return {
      text: sql`text collate "C"`,
      integer: 'bigint',
      fraction: 'double precision',
      table: create,
      wideTable: create,
      serial: (name, key) => create(name).addColumn(key, 'bigserial', (column) => column.primaryKey()),
    };
  }
  return {
    text: 'text',
    integer: 'integer',
    fraction: 'real',
    table: (name) => create(name).modifyEnd(sql`without rowid`),
    wideTable: create,
    serial: (name, key) => create(name).addColumn(key, 'integer', (column) => column.primaryKey().autoIncrement()),
  };
}
