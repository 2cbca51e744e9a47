/** Files for spreadsheets. */
import { Readable } from 'node:stream';
import { BYTE_ORDER_MARK, type CsvRow, csvText } from '../../runtime/files/csv-text.ts';

/** A file instead of a page. */
export interface FileBody {
  readonly file: string;
  /** Its media type; CSV where absent. */
  readonly type?: string;
  readonly content: Readable | string;
}

/** A CSV file, page by page as it is sent. */
export const sendCsv = (file: string, pages: AsyncIterable<readonly CsvRow[]>): FileBody => ({
  file,
  // One stream, and no `pipe`: that would pass on neither a failure of the pages, nor that the client left.
  content: Readable.from(textOf(pages)),
});

async function* textOf(pages: AsyncIterable<readonly CsvRow[]>): AsyncGenerator<string> {
  let mark = BYTE_ORDER_MARK;
  for await (const rows of pages) {
    yield mark + csvText(rows);
    mark = '';
  }
}
