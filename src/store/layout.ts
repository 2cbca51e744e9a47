/** The tables as the engine's own catalogue describes them. */
import { sql } from 'kysely';
import { type Db, engineOf } from './store.ts';

export interface TableLayout {
  /** The columns of the primary key, in order. */
  readonly keys: readonly string[];
  readonly texts: readonly string[];
  readonly integers: readonly string[];
  /** All columns, by name. */
  readonly columns: readonly string[];
}

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** The position in the primary key, from 1; 0 if it is not part of it. */
  readonly key: number;
}

export async function readLayout(db: Db): Promise<ReadonlyMap<string, TableLayout>> {
  const { rows } = await (engineOf(db) === 'postgres' ? POSTGRES : SQLITE).execute(db);
  const columns = Map.groupBy(rows, ({ table }) => table);
  return new Map(
    [...columns].map(([table, all]) => {
      const keys = all.filter(({ key }) => key > 0).toSorted((a, b) => a.key - b.key);
      const ofType = (...types: readonly string[]) => all.filter(({ type }) => types.includes(type.toLowerCase()));
      return [
        table,
        {
          keys: keys.map(({ name }) => name),
          texts: ofType('text').map(({ name }) => name),
          integers: ofType('integer', 'bigint').map(({ name }) => name),
          columns: all.map(({ name }) => name).toSorted(),
        },
      ];
    }),
  );
}

const SQLITE = sql<Column>`select m.name as "table", c.name, c.type, c.pk as key
  from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table' and m.name not like 'sqlite_%'`;

const POSTGRES = sql<Column>`select c.relname as "table", a.attname as name, format_type(a.atttypid, null) as type,
    cast(coalesce(array_position(cast(i.indkey as smallint[]), a.attnum) + 1, 0) as integer) as key
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_index i on i.indrelid = c.oid and i.indisprimary
  where c.relkind = 'r' and c.relnamespace = cast(current_schema() as regnamespace)`;
