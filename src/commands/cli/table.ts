/** Formats rows as text: a table or blocks for a terminal of any width, one line a row for a pipe. Pure. */

export type TableRow = Readonly<Record<string, string | number | boolean | Date | null | undefined>>;

const GAP = '  ';
/** A narrower column of words would be unreadable. */
const LEAST_WIDTH = 24;
const SHORT_NAME_WIDTH = 8;

/** Control characters of the terminal, and those that change the direction of text. */
const CONTROL_CHARACTERS = /[^\P{Cc}\n\t]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Makes control characters visible and harmless: `\u001b`, which JSON reads as the same character. */
export const escapeControls = (text: string): string =>
  text.replaceAll(CONTROL_CHARACTERS, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);

/** A text from outside as part of a line: it ends no line and commands nothing. */
export const oneLine = (text: string): string => escapeControls(text.replaceAll(/\s+/gu, ' '));

const cell = (value: TableRow[string]): string =>
  oneLine(value instanceof Date ? value.toISOString() : String(value ?? ''));

const columnsOf = (rows: readonly TableRow[]): readonly string[] => [
  ...new Set(rows.flatMap((row) => Object.keys(row))),
];

/** The names of the columns and the rows, one line each, with tabs between the cells. It cuts nothing. */
export function toTsv(rows: readonly TableRow[]): string {
  const columns = columnsOf(rows);
  return [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]
    .map((cells) => cells.join('\t'))
    .join('\n');
}

/**
 * A table of at most `width` letters, or a block for each row if that would be unreadable. Cells wrap between words,
 * and no word is cut, so that ids can be copied. `paint` adds colours to a cell.
 */
export function renderTable(rows: readonly TableRow[], width: number, paint = plain): string {
  const columns = columnsOf(rows).filter((column) => rows.some((row) => cell(row[column]) !== ''));
  const lines = rows.map((row) => columns.map((column) => cell(row[column])));
  const widths = widthsFor([columns, ...lines], width);
  if (widths === undefined) {
    // A level or a state alone does not identify a row.
    const head = Math.max(...lines.map(([first = '']) => lengthOf(first))) < SHORT_NAME_WIDTH ? 2 : 1;
    return lines.map((cells) => block(columns, cells.map(paint), head, width)).join('\n\n');
  }
  const rule = widths.map((each) => '─'.repeat(each));
  const headings = [columns, rule].flatMap((cells) => wrapped(cells, widths, plain));
  return [...headings, ...lines.flatMap((cells) => wrapped(cells, widths, paint))].join('\n');
}

/** The width of each column; columns of many words share the rest. Undefined if there is too little room. */
function widthsFor(lines: readonly (readonly string[])[], width: number): readonly number[] | undefined {
  const columns = (lines[0] ?? []).map((_, index) => lines.map((cells) => cells[index] ?? ''));
  const natural = columns.map((cells) => Math.max(...cells.map(lengthOf)));
  const least = columns.map((cells, index) =>
    Math.max(Math.min(natural[index] ?? 0, LEAST_WIDTH), ...cells.flatMap((text) => text.split(' ').map(lengthOf))),
  );
  let spare = width - GAP.length * (columns.length - 1) - sum(least);
  if (spare < 0) return undefined;
  const widths = [...least];
  // Spare letters go to the narrowest column that needs one, so that wide columns end up alike.
  for (; spare > 0; spare -= 1) {
    const wanting = widths.flatMap((each, index) => (each < (natural[index] ?? 0) ? [index] : []));
    const [narrowest] = wanting.toSorted((a, b) => (widths[a] ?? 0) - (widths[b] ?? 0));
    if (narrowest === undefined) break;
    widths[narrowest] = (widths[narrowest] ?? 0) + 1;
  }
  return widths;
}

const plain = (text: string): string => text;

function wrapped(cells: readonly string[], widths: readonly number[], paint: typeof plain): readonly string[] {
  const parts = cells.map((text, index) => wrap(text, widths[index] ?? 0));
  const height = Math.max(...parts.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    parts
      .map((lines, index) => paint(padded(lines[line] ?? '', widths[index] ?? 0)))
      .join(GAP)
      .trimEnd(),
  );
}

/** The first cells name the row; the others follow below, with the names of their columns. */
function block(columns: readonly string[], cells: readonly string[], head: number, width: number): string {
  const label = Math.max(0, ...columns.slice(head).map(lengthOf));
  const lines = cells.slice(head).flatMap((text, index) => {
    if (text === '') return [];
    const [start = '', ...more] = wrap(text, Math.max(LEAST_WIDTH, width - label - 2 * GAP.length));
    const indent = GAP + ' '.repeat(label) + GAP;
    return [`${GAP}${padded(columns[index + head] ?? '', label)}${GAP}${start}`, ...more.map((line) => indent + line)];
  });
  return [cells.slice(0, head).join(GAP), ...lines].join('\n');
}

/** Lines of at most `width` letters; a longer word has a line of its own. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || lengthOf(last) + 1 + lengthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Counts letters, not UTF-16 units. */
const lengthOf = (text: string): number => [...text].length;
const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - lengthOf(text)));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
