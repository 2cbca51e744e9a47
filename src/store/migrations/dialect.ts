/** The two engines' SQL for tables and indexes. */
import {
  type ColumnBuilderCallback,
  type CreateIndexBuilder,
  type CreateTableBuilder,
  type RawBuilder,
  sql,
} from 'kysely';
import type { Engine, Tx } from '../store.ts';

export type Migration = (tx: Tx, engine: Engine) => Promise<void>;

interface Dialect {
  /** Compared byte by byte, so that keys sort alike on both engines, and nearly so in JavaScript. */
  readonly text: RawBuilder<unknown> | 'text';
  readonly integer: 'integer' | 'bigint';
  readonly fraction: 'real' | 'double precision';
  /** A table that is read only by its text key: SQLite keeps it in one tree instead of two. */
  table(name: string): CreateTableBuilder<string, string>;
  /** The same for rows over a kilobyte, which would take several pages each in one tree. */
  wideTable(name: string): CreateTableBuilder<string, string>;
  /** A table with an ascending key that the engine never reuses. */
  serial(name: string, key: string): CreateTableBuilder<string, string>;
  /** An index; `where` limits it to some rows. */
  index(name: string, on: string, columns: readonly string[], where?: string): CreateIndexBuilder<string>;
}

export const required: ColumnBuilderCallback = (column) => column.notNull();
export const unique: ColumnBuilderCallback = (column) => column.notNull().unique();
export const key: ColumnBuilderCallback = (column) => column.primaryKey().notNull();
export const zero: ColumnBuilderCallback = (column) => column.notNull().defaultTo(0);

export function dialect(tx: Tx, engine: Engine): Dialect {
  const create = (name: string): CreateTableBuilder<string, string> => tx.schema.createTable(name);
  const index: Dialect['index'] = (name, on, columns, where) => {
    const made = tx.schema
      .createIndex(name)
      .on(on)
      .columns([...columns]);
    return where === undefined ? made : made.where(sql.raw<boolean>(where));
  };
  if (engine === 'postgres') {
    return {
      text: sql`text collate "C"`,
      integer: 'bigint',
      fraction: 'double precision',
      table: create,
      wideTable: create,
      serial: (name, column) => create(name).addColumn(column, 'bigserial', (id) => id.primaryKey()),
      index,
    };
  }
  return {
    text: 'text',
    integer: 'integer',
    fraction: 'real',
    table: (name) => create(name).modifyEnd(sql`without rowid`),
    wideTable: create,
    serial: (name, column) => create(name).addColumn(column, 'integer', (id) => id.primaryKey().autoIncrement()),
    index,
  };
}
