/**
 * Reads CSV files as people and spreadsheets save them: any common separator, character set, byte order mark and
 * cleared rows.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse';
import { formOf } from '../../protocol/text/text-form.ts';

export interface CsvLine {
  readonly line: number;
  /** The cell of a column, trimmed, without the apostrophe that keeps it from being a formula. */
  readonly cell: (column: string) => string;
  readonly has: (column: string) => boolean;
}

export interface CsvProblem {
  readonly line: number;
  readonly problem: string;
}

/** Streams a file row by row. Yields a problem and ends if the file cannot be read or lacks a column. */
export async function* readCsv(
  file: string,
  needed: readonly string[],
): AsyncGenerator<CsvLine | CsvProblem, void, undefined> {
  const form = await csvFormOf(file);
  if ('problem' in form) return yield form;
  const { delimiter, encoding, from } = form;
  const source = createReadStream(file, { encoding });
  const parser = source.pipe(
    parse({
      bom: true,
      delimiter,
      from_line: from,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      // A cleared row is saved as its separators.
      skip_records_with_empty_values: true,
    }),
  );
  source.on('error', (error) => parser.destroy(error));
  let columns: readonly string[] | undefined;
  try {
    for await (const each of parser) {
      // With `info` the parser yields the line with the cells; its types do not say so.
      const { record, info }: { record: readonly string[]; info: { lines: number } } = each;
      const line = info.lines;
      if (columns !== undefined) {
        yield rowOf(record, columns, line);
        continue;
      }
      const names = record.map((cell) => cell.trim().toLowerCase());
      const missing = needed.filter((name) => !names.includes(name));
      if (missing.length > 0) return yield { line, problem: missingColumns(missing, names) };
      columns = names;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return yield { line: Number(error['lines'] ?? 0), problem: `cannot be read as CSV: ${error.message}` };
  } finally {
    // A consumer that stops early ends only the parser.
    source.destroy();
  }
  if (columns === undefined) yield { line: 1, problem: 'the file is empty' };
}

const rowOf = (record: readonly string[], columns: readonly string[], line: number): CsvLine => ({
  line,
  cell: (column) => unguarded(record[columns.indexOf(column)] ?? ''),
  has: (column) => columns.includes(column),
});

const unguarded = (cell: string): string => cell.trim().replace(/^'/u, '').trim();

const missingColumns = (missing: readonly string[], names: readonly string[]): string =>
  `the first line has no column ${missing.join(', ')}: it has ${names.filter((name) => name !== '').join(', ') || 'nothing'}`;

interface CsvForm {
  readonly delimiter: string;
  readonly encoding: 'utf8' | 'utf16le';
  /** The first line of data: after Excel's `sep=` line. */
  readonly from: number;
}

const HEAD_BYTES = 4_096;

async function csvFormOf(file: string): Promise<CsvForm | CsvProblem> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const form = formOf(buffer.subarray(0, bytesRead));
    if (form === 'archive')
      return {
        line: 1,
        problem: 'the file is a workbook: save it as CSV (in Excel: Save As, "CSV UTF-8"), and use that',
      };
    if (form === 'binary' || form === 'utf-16be')
      return { line: 1, problem: 'the file is not UTF-8 text: save it as CSV (in Excel: Save As, "CSV UTF-8")' };
    const encoding = form === 'utf-16le' ? 'utf16le' : 'utf8';
    const [first = '', second = ''] = buffer
      .toString(encoding, 0, bytesRead)
      .replace(/^\uFEFF/u, '')
      .split(/\r\n|\r|\n/u);
    // Excel's own line that names the separator.
    const named = /^"?sep=(.)"?$/iu.exec(first)?.[1];
    const header = named === undefined ? first : second;
    const count = (separator: string): number => header.split(separator).length;
    const delimiter = named ?? [';', ',', '\t'].toSorted((a, b) => count(b) - count(a))[0] ?? ';';
    return { delimiter, encoding, from: named === undefined ? 1 : 2 };
  } finally {
    await handle.close();
  }
}
