/** Reads companies from a CSV or JSON Lines file, line by line. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { CsvError, parse } from 'csv-parse';
import { errorText } from '../../protocol/text/error-text.ts';
import type { IndexEntry } from '../describe/entry.ts';
import { type EntryProblem, entryOfCells, entryOfLine } from './entry-line.ts';

/** A company, or why the line is rejected. */
export type CompanyLine =
  | { readonly line: number; readonly entry: IndexEntry }
  | { readonly line: number; readonly problem: string };

/** Reads every line after number `after`. */
export async function* readIndexFile(file: string, after: number): AsyncGenerator<CompanyLine, void, undefined> {
  const first = await firstLine(file);
  yield* first.startsWith('{') ? readJsonLines(file, after) : readCsv(file, delimiterOf(first), after);
}

async function firstLine(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(4_096), 0, 4_096, 0);
    const text = buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/u, '')
      .trimStart();
    return text.split(/\r?\n/u)[0] ?? '';
  } finally {
    await handle.close();
  }
}

const delimiterOf = (header: string): string => [';', '\t', ','].find((mark) => header.includes(mark)) ?? ',';

const lineOf = (line: number, read: IndexEntry | EntryProblem): CompanyLine =>
  'problem' in read ? { line, problem: read.problem } : { line, entry: read };

async function* readJsonLines(file: string, after: number): AsyncGenerator<CompanyLine, void, undefined> {
  const source = createReadStream(file, 'utf8');
  let line = 0;
  try {
    for await (const text of createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY })) {
      line += 1;
      if (line <= after || text.trim() === '') continue;
      yield lineOf(line, readJson(text.replace(/^\uFEFF/u, '')));
    }
  } finally {
    // If the caller stops early, only the interface closes by itself.
    source.destroy();
  }
}

function readJson(text: string): IndexEntry | EntryProblem {
  try {
    return entryOfLine(JSON.parse(text));
  } catch (error) {
    return { problem: `is not JSON: ${errorText(error)}` };
  }
}

async function* readCsv(file: string, delimiter: string, after: number): AsyncGenerator<CompanyLine, void, undefined> {
  const source = createReadStream(file);
  const parser = source.pipe(
    parse({ bom: true, delimiter, info: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true }),
  );
  source.on('error', (error) => parser.destroy(error));
  let columns: readonly string[] | undefined;
  try {
    for await (const each of parser) {
      // With `info` the parser also returns the line number; its types do not say so.
      const { record, info }: { record: readonly string[]; info: { lines: number } } = each;
      if (columns === undefined) columns = record.map((cell) => cell.trim());
      else if (info.lines > after) yield lineOf(info.lines, entryOfCells(columns, record));
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { line: Number(error['lines'] ?? 0), problem: `cannot be read as CSV, nor what follows: ${error.message}` };
  } finally {
    // If the caller stops early, only the parser closes by itself.
    source.destroy();
  }
}
