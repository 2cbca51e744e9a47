/** Files for spreadsheets. */
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';

export type CsvRow = readonly string[];

/** A file instead of a page. */
export interface FileBody {
  readonly file: string;
  /** Its media type; CSV where absent. */
  readonly type?: string;
  readonly content: Readable | string;
}

/** A CSV file, page by page as it is sent. A spreadsheet reads it as UTF-8; parted by semicolons, as in Denmark. */
export const sendCsv = (file: string, pages: AsyncIterable<readonly CsvRow[]>): FileBody => ({
  file,
  // One stream, and no `pipe`: that would pass on neither a failure of the pages, nor that the client left.
  content: Readable.from(textOf(pages)),
});

async function* textOf(pages: AsyncIterable<readonly CsvRow[]>): AsyncGenerator<string> {
  let mark = '\uFEFF';
  for await (const rows of pages) {
    yield mark + stringify([...rows], { delimiter: ';', escape_formulas: true, record_delimiter: 'windows' });
    mark = '';
  }
}
