import { Readable } from 'node:stream';
import { BYTE_ORDER_MARK, type CsvRow, csvText } from '../../runtime/files/csv-text.ts';

/** A file instead of a page. */
export interface FileBody {
  readonly file: string;
  /** CSV by default. */
  readonly type?: string;
  readonly content: Readable | string;
}

/** A CSV file, sent page by page. */
export const sendCsv = (file: string, pages: AsyncIterable<readonly CsvRow[]>): FileBody => ({
  file,
  // One stream without `pipe`, which passes on neither an error of the pages nor the end of the client.
  content: Readable.from(textOf(pages)),
});

async function* textOf(pages: AsyncIterable<readonly CsvRow[]>): AsyncGenerator<string> {
  let mark = BYTE_ORDER_MARK;
  for await (const rows of pages) {
    yield mark + csvText(rows);
    mark = '';
  }
}
