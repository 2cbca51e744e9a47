/** Reads Markdown as far as the documents use it: tables under headings, fenced blocks, code spans, links. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A document of the repository, by its path. */
export const readDoc = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The documents at a place below the root, by their paths. */
const markdownIn = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(folder, path))
    .toSorted();

/** Every document of the repository that people read. */
export const DOCS: readonly string[] = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...markdownIn('docs'),
  ...markdownIn('.github'),
  'src/README.md',
  'providers/README.md',
];

const LINE_OF_TABLE = /^\|(?<cells>.*)\|$/u;

const cellsOf = (line: string): string[] =>
  (LINE_OF_TABLE.exec(line)?.groups?.['cells'] ?? '')
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

/** The rows of the table whose head begins with these columns, each as column → text. Throws if there is none. */
export function tableIn(doc: string, ...head: readonly string[]): readonly Readonly<Record<string, string>>[] {
  const lines = doc.split('\n');
  const start = lines.findIndex((line) => head.every((column, index) => cellsOf(line)[index] === column));
  if (start < 0) throw new Error(`there is no table that begins with ${head.join(' | ')}`);
  const columns = cellsOf(lines[start] ?? '');
  const rows: Record<string, string>[] = [];
  for (const line of lines.slice(start + 2)) {
    if (!LINE_OF_TABLE.test(line)) break;
    const cells = cellsOf(line);
    if (cells.length !== columns.length)
      throw new Error(`a row has ${cells.length} cells of ${columns.length}: ${line}`);
    rows.push(Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])));
  }
  return rows;
}

/** A fenced block, also within a list. */
const BLOCK = /^(?<indent> *)```(?<language>\w+)\n(?<text>.*?)^\k<indent>```$/gmsu;

const withoutBlocks = (doc: string): string => doc.replaceAll(BLOCK, '');

/** The contents of the fenced blocks in a language, without their indentation. */
export const fenced = (doc: string, language: string): readonly string[] =>
  [...doc.matchAll(BLOCK)].flatMap(({ groups = {} }) =>
    groups['language'] === language
      ? (groups['text'] ?? '').replaceAll(new RegExp(`^${groups['indent'] ?? ''}`, 'gmu'), '')
      : [],
  );

/** The code spans in a text, without the fenced blocks. */
export const spans = (text: string): readonly string[] =>
  [...withoutBlocks(text).matchAll(/`(?<code>[^`\n]+)`/gu)].map((span) => span.groups?.['code'] ?? '');

/** Where links point that lead to no other host. */
export const linksIn = (doc: string): readonly string[] =>
  [...withoutBlocks(doc).matchAll(/\]\((?<target>[^)\s]+)\)/gu)]
    .map((link) => link.groups?.['target'] ?? '')
    .filter((target) => !/^[a-z]+:/u.test(target));

/** The anchors of a document's headings, as GitHub makes them. */
export const anchorsIn = (doc: string): ReadonlySet<string> =>
  new Set(
    [...withoutBlocks(doc).matchAll(/^#+ (?<title>.+)$/gmu)].map((heading) =>
      (heading.groups?.['title'] ?? '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
