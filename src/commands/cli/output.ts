/** What a command prints on stdout: for people, or with `--json` for programs. */
import { renderTable, type TableRow, toTsv } from './table.ts';

/** Where texts go: a process stream, or a test's. */
export interface Sink {
  write(text: string): unknown;
  /** Writes what moves the cursor, where that is more than text: a bar's. Nothing from outside may be in it as it came. */
  draw?(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Of a terminal that does not say how wide it is. */
const USUAL_WIDTH = 80;

export interface Output {
  /** One line for people; nothing with `--json`. */
  line(text?: string): void;
  /**
   * Rows under their keys: as wide as the terminal, or a line a row with tabs in a pipe; with `--json` one document, the
   * list.
   */
  table(rows: readonly TableRow[], empty?: string): void;
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
      return line(stdout.isTTY === true ? renderTable(rows, stdout.columns ?? USUAL_WIDTH) : toTsv(rows));
    },
    result: (value, text) => line(json ? JSON.stringify(value, null, 2) : text),
    entry: (value, text) => line(json ? JSON.stringify(value) : text),
  };
}
