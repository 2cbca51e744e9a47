/**
 * Reads the rows of a file: CSV with a header, or JSON. The layout of the JSON files is not known, so it reads every
 * layout: a list, a list inside an object, and one row per line. In all of them a row is an object that holds no other
 * object.
 */
import { StringDecoder } from 'node:string_decoder';
import { isJsonObject, type JsonObject } from '../../../../../protocol/text/json.ts';
import { SourceError } from '../../source.ts';
import type { DafRow } from '../rows.ts';

/** Columns that documents do not need, half of each row. */
const UNREAD = /^(?:datafordelerRow|datafordelerRegister|feltliste|\w*aktoer$|forretningshaendelse)/u;
/** Far above any row, which has less than a kilobyte. */
const LONGEST_ROW = 1 << 20;
/** Bytes to decode at once: a longer string would stay until a full garbage collection. */
const SLICE = 32 << 10;
const BYTE_ORDER_MARK = /^\uFEFF/;

/** The rows of a file, slice by slice. Throws {@link SourceError} for a file that ends within a row. */
export async function* recordsIn(
  bytes: AsyncIterable<Buffer>,
  format: 'csv' | 'json',
): AsyncGenerator<readonly DafRow[]> {
  const decoder = new StringDecoder('utf8');
  const read = format === 'csv' ? createCsvReader() : createJsonReader();
  let isFirst = true;
  for await (const chunk of bytes)
    for (let from = 0; from < chunk.length; from += SLICE) {
      const text = decoder.write(chunk.subarray(from, from + SLICE));
      yield read(isFirst ? text.replace(BYTE_ORDER_MARK, '') : text, false);
      isFirst &&= text === '';
    }
  yield read(decoder.end(), true);
}

type ChunkReader = (text: string, isLast: boolean) => readonly DafRow[];

const cut = () => new SourceError('a file of Datafordeler ends in the middle of a row');

function createCsvReader(): ChunkReader {
  let rest = '';
  let columns: readonly string[] | undefined;
  const take = (line: string, rows: DafRow[]): void => {
    if (line === '') return;
    const values = valuesIn(line);
    if (columns === undefined) columns = values.map((name) => (UNREAD.test(name) ? '' : name));
    else if (values.length === columns.length) rows.push(rowOf(columns, values));
    else throw new SourceError(`a row of Datafordeler has ${values.length} values for ${columns.length} columns`);
  };
  return (chunk, isLast) => {
    const text = rest + chunk;
    const rows: DafRow[] = [];
    let from = 0;
    for (let end = lineEnd(text, from); end !== -1; end = lineEnd(text, from)) {
      take(text.slice(from, text[end - 1] === '\r' ? end - 1 : end), rows);
      from = end + 1;
    }
    rest = text.slice(from);
    if (rest.length > LONGEST_ROW) throw cut();
    if (isLast) {
      if (quotesIn(rest) % 2 === 1) throw cut();
      take(rest.trimEnd(), rows);
    }
    return rows;
  };
}

/** The end of a line; a quoted value may hold line ends. */
function lineEnd(text: string, from: number): number {
  let end = text.indexOf('\n', from);
  let quote = text.indexOf('"', from);
  while (end !== -1 && quote !== -1 && quote < end) {
    const closing = text.indexOf('"', quote + 1);
    if (closing === -1) return -1;
    if (closing > end) end = text.indexOf('\n', closing);
    quote = text.indexOf('"', closing + 1);
  }
  return end;
}

const quotesIn = (text: string): number => text.split('"').length - 1;

const QUOTED_VALUE = /"((?:[^"]|"")*)"/uy;

function valuesIn(line: string): readonly string[] {
  if (!line.includes('"')) return line.split(',');
  const values: string[] = [];
  for (let at = 0; at <= line.length; at++) {
    QUOTED_VALUE.lastIndex = at;
    const [all, quoted] = QUOTED_VALUE.exec(line) ?? [];
    const comma = line.indexOf(',', at + (all?.length ?? 0));
    const end = comma === -1 ? line.length : comma;
    values.push(quoted?.replaceAll('""', '"') ?? line.slice(at, end));
    at = end;
  }
  return values;
}

function rowOf(columns: readonly string[], values: readonly string[]): DafRow {
  const row: Record<string, unknown> = {};
  for (let at = 0; at < columns.length; at++) {
    const column = columns[at];
    const value = values[at];
    if (column !== '' && column !== undefined && value !== '') row[column] = value;
  }
  return row;
}

/** What delimits objects in JSON: braces, and strings, which may hold braces. */
const JSON_MARK = /["{}]/gu;

function createJsonReader(): ChunkReader {
  let rest = '';
  return (chunk, isLast) => {
    const found = objectsIn(rest + chunk);
    rest = found.rest;
    if (rest.length > LONGEST_ROW || (isLast && rest !== '')) throw cut();
    return found.objects.map(parsedRow);
  };
}

/** `rest`: an open object, or the beginning of a string. */
function objectsIn(json: string): { readonly objects: readonly string[]; readonly rest: string } {
  const objects: string[] = [];
  let open = -1;
  JSON_MARK.lastIndex = 0;
  for (let mark = JSON_MARK.exec(json); mark !== null; mark = JSON_MARK.exec(json)) {
    const { index } = mark;
    if (mark[0] === '"') {
      const end = stringEnd(json, index + 1);
      if (end === -1) return { objects, rest: json.slice(open === -1 ? index : open) };
      JSON_MARK.lastIndex = end + 1;
    } else if (mark[0] === '{') open = index;
    else if (open !== -1) {
      objects.push(json.slice(open, index + 1));
      open = -1;
    }
  }
  return { objects, rest: open === -1 ? '' : json.slice(open) };
}

function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

function parsedRow(text: string): DafRow {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new SourceError('a file of Datafordeler holds JSON that is broken');
  }
  return isJsonObject(json) ? withoutUnread(json) : {};
}

const withoutUnread = (row: JsonObject): DafRow =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !UNREAD.test(column)));
