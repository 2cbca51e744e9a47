/** What a command prints on stdout: for people, or with `--json` for programs. */
import Table from 'cli-table3';

/** Where texts go: a process stream, or a test's. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Row = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Output {
  /** One line for people; nothing with `--json`. */
  line(text?: string): void;
  /** Rows under their keys; with `--json` one document, the list. */
  table(rows: readonly Row[], empty?: string): void;
  /** The command's one result: `text` for people, `value` as one JSON document. Call it once. */
  result(value: unknown, text: string): void;
  /** One of a stream: a line for people, or a line of JSON. */
  entry(value: unknown, text: string): void;
}

/** Makes the output of one command. */
export function createOutput(stdout: Sink, json: boolean): Output {
  const line = (text: string): void => void stdout.write(`${text}\n`);
  return {
    line: (text = '') => {
      if (!json) line(text);
    },
    table: (rows, empty = 'Nothing to show.') => {
      if (json) return line(JSON.stringify(rows, null, 2));
      if (rows.length === 0) return line(empty);
      return line(stdout.isTTY === true ? drawn(rows, stdout.columns) : aligned(rows));
    },
    result: (value, text) => line(json ? JSON.stringify(value, null, 2) : text),
    entry: (value, text) => line(json ? JSON.stringify(value) : text),
  };
}

/** A CRM's text may hold line ends, and escape sequences that would command the terminal. */
const cell = (value: Row[string]): string => String(value ?? '').replaceAll(/\p{Cc}+/gu, ' ');

const columnsOf = (rows: readonly Row[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];

function drawn(rows: readonly Row[], width: number | undefined): string {
  const columns = columnsOf(rows);
  const widest = Math.max(20, Math.floor((width ?? 120) / columns.length) * 2);
  const table = new Table({ head: columns, style: { head: ['bold'], border: ['gray'], compact: true } });
  for (const row of rows) table.push(columns.map((column) => shortened(cell(row[column]), widest)));
  return table.toString();
}

const shortened = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function aligned(rows: readonly Row[]): string {
  const columns = columnsOf(rows);
  const lines = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))];
  const widths = columns.map((_, index) => lines.reduce((most, line) => Math.max(most, line[index]?.length ?? 0), 0));
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
