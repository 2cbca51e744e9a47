/** Prints a command's results on stdout: for people, or with `--json` for programs. */
import { maskedValue } from '../../protocol/text/mask.ts';
import { painted, type Toned, toneOf } from './style.ts';
import { escapeControls, renderTable, type TableRow, toTsv } from './table.ts';
import { ago, isoTimeIn, shownTime } from './when.ts';

/** A process stream, or a test's. */
export interface Sink {
  write(text: string): unknown;
  /** Writes text that moves the cursor, such as a progress bar. It must not contain raw text from outside. */
  draw?(text: string): unknown;
  /** Hides the secrets in a text; absent if none are known. */
  scrub?(text: string): string;
  /** Writes a document whose values are scrubbed already. */
  writeScrubbed?(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** For a terminal that does not report its width. */
const USUAL_WIDTH = 80;

export interface OutputPage {
  readonly list: string;
  readonly rows: readonly unknown[];
}

export interface Output {
  /** One line for people, in parts of which some have a tone; nothing with `--json`. */
  line(...parts: readonly (string | Toned)[]): void;
  /** A time in a line for people, in UTC; a terminal adds how long ago that is. Empty for null. */
  time(ms: number | null): string;
  /** Rows with headings: fitted to the terminal, or tab-separated lines in a pipe; with `--json` one list. */
  table(rows: readonly TableRow[], empty?: string): void;
  /** The only result: `text` for people, `value` as one JSON document, also printed if there is no text. */
  result(value: unknown, text?: string): void;
  /**
   * The command's only result, if it is too large for memory: one JSON document of `head`, with lists of rows under
   * `name` that come in pages. The pages of a list follow one another.
   */
  lists(head: Readonly<Record<string, unknown>>, name: string, pages: AsyncIterable<OutputPage>): Promise<void>;
  /** An entry of a stream: a line for people, or a line of JSON. */
  entry(value: unknown, text: string): void;
}

/**
 * With `colours`, tones and the words for states have colours. A terminal shows times by how long ago they are; pipes and JSON
 * have them in ISO 8601.
 */
export function createOutput(stdout: Sink, json: boolean, colours = false, now = Date.now): Output {
  const line = (text: string): void => void stdout.write(`${text}\n`);
  const scrub = (text: string): string => stdout.scrub?.(text) ?? text;
  const write = (text: string): void =>
    void (stdout.writeScrubbed === undefined ? stdout.write(text) : stdout.writeScrubbed(text));
  const draw = (text: string): void => void (stdout.draw === undefined ? stdout.write(text) : stdout.draw(text));
  const scrubbed = (text: string): void => write(`${text}\n`);
  const scrubbedRow = (row: TableRow): TableRow =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [column, maskedValue(value, scrub)]));
  const document = (value: unknown, indent?: number): void => scrubbed(shownJson(value, scrub, indent));
  return {
    line: (...parts) => {
      if (json) return;
      if (!colours) return line(parts.map((part) => (typeof part === 'string' ? part : part.text)).join(''));
      const shown = parts.map((part) => {
        const text = escapeControls(scrub(typeof part === 'string' ? part : part.text));
        return typeof part === 'string' ? text : painted(part.tone, text);
      });
      draw(`${shown.join('')}\n`);
    },
    time: (ms) => (ms === null || stdout.isTTY !== true ? shownTime(ms) : `${shownTime(ms)} (${ago(ms, now())})`),
    table: (rows, empty = 'Nothing to show.') => {
      if (json) return document(rows, 2);
      if (rows.length === 0) return line(empty);
      const shown = rows.map(scrubbedRow);
      if (stdout.isTTY !== true) return scrubbed(toTsv(shown));
      const timed = shown.map((row) => withAges(row, now()));
      const width = stdout.columns ?? USUAL_WIDTH;
      // The cells are harmless already: only colours control the terminal.
      return colours ? draw(`${renderTable(timed, width, paintState)}\n`) : scrubbed(renderTable(timed, width));
    },
    result: (value, text) => (json || text === undefined ? document(value, 2) : line(text)),
    async lists(head, name, pages) {
      for await (const part of partsOf(head, name, pages, (value) => shownJson(value, scrub, 2))) write(part);
    },
    entry: (value, text) => (json ? document(value) : line(text)),
  };
}

const withAges = (row: TableRow, now: number): TableRow =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, value instanceof Date ? ago(value.getTime(), now) : value]),
  );

/** A document with masked values, and with its times in ISO 8601. */
const shownJson = (document: unknown, scrub: (text: string) => string, indent?: number): string =>
  JSON.stringify(document, (key, value) => maskedValue(isoTimeIn(key, value), scrub), indent);

/** A cell that is a state, in its colour. */
function paintState(text: string): string {
  const tone = toneOf(text.trim());
  return tone === undefined ? text : painted(tone, text);
}

/** The parts of a document that equals `JSON.stringify` with an indent of two. */
async function* partsOf(
  head: Readonly<Record<string, unknown>>,
  name: string,
  pages: AsyncIterable<OutputPage>,
  json: (value: unknown) => string,
): AsyncGenerator<string> {
  yield `${json(head).slice(0, -'\n}'.length)},\n  ${JSON.stringify(name)}: {`;
  let last: string | undefined;
  for await (const { list, rows } of pages) {
    for (const row of rows) {
      if (list === last) yield ',';
      else yield `${last === undefined ? '' : '\n    ],'}\n    ${JSON.stringify(list)}: [`;
      yield `\n${json(row).replaceAll(/^/gm, '      ')}`;
      last = list;
    }
  }
  yield last === undefined ? '}\n}\n' : '\n    ]\n  }\n}\n';
}
