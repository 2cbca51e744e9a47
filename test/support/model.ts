/** The tables of the store as a document shows them: from the schema that a store has, and from the types that say what it means. */
import { sql } from 'kysely';
import type { Db } from '../../src/store/store.ts';
import { readDoc } from './docs.ts';

/** A column as the types have it. */
export interface TypedColumn {
  readonly name: string;
  readonly nullable: boolean;
}

/** A table as the types have it. */
export interface TypedTable {
  readonly name: string;
  /** The first sentence of what its type says. */
  readonly holds: string;
  readonly columns: readonly TypedColumn[];
}

const INTERFACE =
  /\/\*\*(?<doc>(?:(?!\*\/)[\s\S])*)\*\/\n(?:export )?interface (?<type>\w+) \{\n(?<body>[\s\S]*?)\n\}/g;
const COMMENT = /\/\*\*[\s\S]*?\*\//g;

const firstSentence = (doc: string): string =>
  (/^.*?\.(?=\s|$)/.exec(doc.replaceAll(/\s*\n \*\s*/g, ' ').trim())?.[0] ?? '').slice(0, -1);

/** The tables that a file of the schema declares, in its order. */
export function typedTables(file: string): readonly TypedTable[] {
  const text = readDoc(file);
  const types = new Map([...text.matchAll(INTERFACE)].map(({ groups = {} }) => [groups['type'] ?? '', groups]));
  const [, members = ''] = /interface \w+Schema(?: extends [\w, ]+)? \{\n([\s\S]*?)\n\}/.exec(text) ?? [];
  return [...members.matchAll(/^ {2}(\w+): (\w+);$/gm)].map(([, name = '', type = '']) => {
    const { doc = '', body = '' } = types.get(type) ?? {};
    const columns = [...body.replaceAll(COMMENT, '').matchAll(/^ {2}(\w+)\??: (.+);$/gm)];
    return {
      name,
      holds: firstSentence(doc),
      columns: columns.map(([, column = '', of = '']) => ({ name: column, nullable: /\bnull\b/.test(of) })),
    };
  });
}

/** A column as the store has it. `key` is its place in the primary key, 0 outside. */
export interface StoredColumn extends TypedColumn {
  readonly key: number;
}

/** The columns of every table of a SQLite store. */
export async function storedTables(db: Db): Promise<ReadonlyMap<string, readonly StoredColumn[]>> {
  const { rows } = await sql<{ table: string; name: string; required: number; key: number }>`
    select master.name as "table", info.name, info."notnull" as required, info.pk as key
    from sqlite_schema as master join pragma_table_info(master.name) as info
    where master.type = 'table' and master.name not like 'sqlite_%' and master.name <> 'schema_version'
    order by master.name, info.cid`.execute(db);
  const tables = Map.groupBy(rows, ({ table }) => table);
  return new Map(
    [...tables].map(([table, columns]) => [
      table,
      columns.map(({ name, required, key }) => ({ name, nullable: required === 0 && key === 0, key })),
    ]),
  );
}

/** A table whose rows name rows of another one, by these columns. */
interface Reference {
  readonly from: string;
  readonly to: string;
  readonly by: string;
}

/** The keys that other tables share by the names of their columns. */
const SHARED = [
  { to: 'link', columns: ['provider', 'record_id'] },
  { to: 'lane', columns: ['queue', 'key'] },
];

/** What the columns of a table refer to: the table of that name, a key that is shared, or a receipt by its number. */
function referencesOf(
  from: string,
  columns: readonly StoredColumn[],
  tables: ReadonlySet<string>,
): readonly Reference[] {
  const names = columns.map(({ name }) => name);
  const named = names.filter((name) => tables.has(name)).map((name) => ({ from, to: name, by: name }));
  const shared = SHARED.filter(({ to, columns: key }) => to !== from && key.every((name) => names.includes(name)));
  const receipts = columns.filter(({ name, key }) => key === 0 && /^(?:\w+_)?seq$/.test(name));
  return [
    ...named,
    ...shared.map(({ to, columns: key }) => ({ from, to, by: key.join(', ') })),
    ...receipts.map(({ name }) => ({ from, to: 'receipt', by: name })),
  ];
}

/** The picture and the list of some tables, in Markdown. */
export function drawn(tables: readonly TypedTable[], stored: ReadonlyMap<string, readonly StoredColumn[]>): string {
  const all = new Set(stored.keys());
  const references = tables.flatMap(({ name }) => referencesOf(name, stored.get(name) ?? [], all));
  const picture = references.map(({ from, to, by }) => `  ${to} |o--o{ ${from} : "${by}"`);
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  const rows = tables.map(({ name, holds }) => {
    const columns = stored.get(name) ?? [];
    const key = columns.filter((each) => each.key > 0).toSorted((a, b) => a.key - b.key);
    const others = columns.filter((each) => each.key === 0);
    const cells = [`\`${name}\``, holds, ...[key, others].map((each) => code(each.map((column) => column.name)))];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '```mermaid',
    'erDiagram',
    ...picture,
    '```',
    '',
    '| Table | Holds | Key | Other columns |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** An arrow of a diagram of states; `[*]` stands for before the first and after the last. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly when: string;
}

/** The arrows of the diagram below a heading of a document. */
export function arrowsBelow(doc: string, heading: string): readonly Arrow[] {
  const [, section = ''] = doc.split(`\n### ${heading}\n`);
  const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(section) ?? [];
  return [...diagram.matchAll(/^ {2}(\S+) --> (\S+): (.+)$/gm)].map(([, from = '', to = '', when = '']) => ({
    ...{ from, to, when },
  }));
}
