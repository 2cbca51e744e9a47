/** Reads a plan file as people and spreadsheets leave it: any of their separators, marks and lost zeros. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse';
import type { RecordId } from '../../../../providers/provider.ts';
import { readCvrNumber } from '../../../protocol/cvr-number.ts';
import { companyEntityId } from '../../../protocol/entity-id.ts';
import { formOf } from '../../../protocol/text/text-form.ts';
import { ACTIONS, type Action } from '../rows/verdict.ts';

/** One line of a plan that can be understood. */
export interface PlanLine {
  readonly line: number;
  readonly recordId: string;
  /** The canonical entity id of its number, undefined where the number is no company's. */
  readonly entity: string | undefined;
  /** The number's cell, as it stands. */
  readonly number: string;
  readonly action: Action;
  /** Set where a person says that the record does not mean this company; its action is `skip`. */
  readonly rejected?: true;
  /** What the CRM held when the plan was written; undefined where the file has no such column. */
  readonly scanned: string | undefined;
  /** Set where a spreadsheet took the number's leading zero, which is given back. */
  readonly repaired?: true;
}

/** What is wrong with a line, or with the file. */
export interface PlanProblem {
  readonly line: number;
  readonly problem: string;
}

/** The columns that must be there. */
const NEEDED = ['record', 'number', 'action'] as const;
type Needed = (typeof NEEDED)[number];
/** The action of a line whose company is the wrong one: a match does not propose it again. */
const REJECT = 'reject';
/** One that may be missing. */
const SCANNED = 'scanned';
type Columns = Readonly<Record<Needed | typeof SCANNED, number>>;

/** The file as it stands now: what was read of it is of the same one. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('base64url');
}

/** Reads a file line by line, never whole. What cannot be understood is told and passed over. */
export async function* readPlan(
  file: string,
  readId: (text: string) => RecordId,
): AsyncGenerator<PlanLine | PlanProblem, void, undefined> {
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
      // A row that was cleared, and not deleted, is saved as its separators.
      skip_records_with_empty_values: true,
    }),
  );
  source.on('error', (error) => parser.destroy(error));
  let columns: Columns | undefined;
  try {
    for await (const each of parser) {
      // With `info` the parser gives the line beside the cells; its types do not say so.
      const { record, info }: { record: readonly string[]; info: { lines: number } } = each;
      const line = info.lines;
      if (columns !== undefined) {
        yield readLine(record, columns, line, readId);
        continue;
      }
      const names = record.map((cell) => cell.trim().toLowerCase());
      const missing = NEEDED.filter((name) => !names.includes(name));
      if (missing.length > 0) return yield { line, problem: missingColumns(missing, names) };
      const at = (name: string): number => names.indexOf(name);
      columns = { record: at('record'), number: at('number'), action: at('action'), [SCANNED]: at(SCANNED) };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return yield { line: Number(error['lines'] ?? 0), problem: `cannot be read as CSV: ${error.message}` };
  }
  if (columns === undefined) yield { line: 1, problem: 'the file is empty' };
}

const missingColumns = (missing: readonly string[], names: readonly string[]): string =>
  `the first line has no column ${missing.join(', ')}: it has ${names.filter((name) => name !== '').join(', ') || 'nothing'}`;

function readLine(
  record: readonly string[],
  columns: Columns,
  line: number,
  readId: (text: string) => RecordId,
): PlanLine | PlanProblem {
  const cell = (name: keyof Columns): string => unguarded(record[columns[name]] ?? '');
  const named = cell('record');
  if (named === '') return { line, problem: 'the record is blank' };
  if (/^\d+(?:[.,]\d+)?e\+?\d+$/iu.test(named))
    return {
      line,
      problem: `the spreadsheet rounded the record id to ${named}: open the plan with that column as text`,
    };
  const id = readId(named);
  if (id.kind === 'none') return { line, problem: `${named} can be no record: ${id.reason}` };
  const recordId = id.id;
  const text = cell('action').toLowerCase();
  const action = text === REJECT ? 'skip' : ACTIONS.find((one) => one === text);
  if (action === undefined)
    return {
      line,
      problem: `the action of record ${recordId} is ${text === '' ? 'blank' : text}: write link, skip or reject`,
    };
  const number = cell('number');
  // A spreadsheet drops leading zeros of what looks like a number.
  const read = readCvrNumber(number, { pad: true });
  const isCompany = read.kind === 'number';
  const isRepaired = isCompany && readCvrNumber(number).kind === 'lost-zero';
  return {
    line,
    recordId,
    number,
    action,
    scanned: columns[SCANNED] === -1 ? undefined : cell(SCANNED),
    entity: isCompany ? companyEntityId(read.number) : undefined,
    ...(isRepaired && { repaired: true }),
    ...(text === REJECT && { rejected: true }),
  };
}

/** Without blanks, and without the apostrophe that keeps a cell from being a formula. */
const unguarded = (cell: string): string => cell.trim().replace(/^'/u, '').trim();

interface CsvForm {
  readonly delimiter: string;
  readonly encoding: 'utf8' | 'utf16le';
  /** The first line that counts. */
  readonly from: number;
}

const HEAD_BYTES = 4_096;

/** How the file is written, by its beginning. */
async function csvFormOf(file: string): Promise<CsvForm | PlanProblem> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const form = formOf(buffer.subarray(0, bytesRead));
    if (form === 'archive')
      return {
        line: 1,
        problem: 'the file is a workbook: save it as CSV (in Excel: Save As, "CSV UTF-8"), and apply that',
      };
    if (form === 'binary' || form === 'utf-16be')
      return { line: 1, problem: 'the file is no text in UTF-8: save it as CSV (in Excel: Save As, "CSV UTF-8")' };
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
