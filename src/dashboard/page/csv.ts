/** Files for spreadsheets. */
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify';

export type CsvRow = readonly string[];

/** A file instead of a page. */
export interface FileBody {
  readonly file: string;
  /** Its media type; CSV where absent. */
  readonly type?: string;
  readonly content: Readable | string;
}

/** A CSV file, row by row as it is sent. A spreadsheet takes no cell of it for a formula, and reads it as UTF-8; parted by semicolons, as in Denmark. */
export const sendCsv = (file: string, rows: AsyncIterable<CsvRow>): FileBody => ({
  file,
  content: Readable.from(rows).pipe(
    stringify({ bom: true, delimiter: ';', escape_formulas: true, record_delimiter: 'windows' }),
  ),
});
