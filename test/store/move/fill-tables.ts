/** Rows in every table of a store, with what engines keep in different ways. */
import { type ColumnMetadata, sql } from 'kysely';
import { readLayout, type TableLayout } from '../../../src/store/layout.ts';
import type { Store } from '../../../src/store/store.ts';

/** Texts that sort otherwise by UTF-16 than by bytes, and what is no plain word. */
const TEXTS = [
  'Ærø',
  '\u{1F600} smil',
  '\uFFFD fuldbredde',
  '',
  '"a\\b"\n\tø',
  '{"x":"\\u0000 og \\ud800"}',
  'æ'.repeat(20_000),
];
/** In digits: from 2^53 on no number of JavaScript is exact. */
const INTEGERS = ['0', '-1', '9007199254740993', '9223372036854775807', '1', '-9223372036854775808', '1767225600000'];

/** So many rows in every table that has a key. */
export async function fillTables(store: Store, rows: number): Promise<void> {
  const layout = await readLayout(store.db);
  const described = await store.db.introspection.getTables();
  await store.write(async (tx) => {
    for (const { name: table, columns } of described) {
      // Only the version of the schema has no key.
      if (layout.get(table)?.keys.length === 0) continue;
      const given = columns.filter(({ isAutoIncrementing }) => !isAutoIncrementing);
      for (let at = 0; at < rows; at += 1) {
        const values = given.map((column) => valueFor(column, layout.get(table), at));
        await sql`insert into ${sql.table(table)} (${sql.join(given.map(({ name }) => sql.ref(name)))})
          values (${sql.join(values)})`.execute(tx);
      }
    }
  });
}

function valueFor({ name, isNullable }: ColumnMetadata, layout: TableLayout | undefined, at: number) {
  const { keys = [], integers = [], texts = [] } = layout ?? {};
  if (isNullable && at % 2 === 1) return sql`null`;
  if (integers.includes(name)) return sql`cast(${numberFor(keys.includes(name), at)} as ${BIGINT})`;
  return texts.includes(name) ? sql`${textFor(keys.includes(name), name, at)}` : sql`${at + 0.125}`;
}

/** SQLite takes any name with `int` in it for a whole number. */
const BIGINT = sql.raw('bigint');

const numberFor = (isKey: boolean, at: number): string =>
  isKey ? String(at + 1) : (INTEGERS[at % INTEGERS.length] ?? '');

/** No index of PostgreSQL takes a long text. */
const textFor = (isKey: boolean, column: string, at: number): string => {
  const text = TEXTS[at % TEXTS.length] ?? '';
  return `${isKey || !/body|value|content|detail/u.test(column) ? text.slice(0, 20) : text}${at}`;
};
