/** Writes CSV that spreadsheets open: UTF-8 with a byte order mark, separated by semicolons as in Denmark. */
import { stringify } from 'csv-stringify/sync';

export type CsvRow = readonly string[];

export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Puts an apostrophe before cells that a spreadsheet would read as a formula, also after commas, which separate cells in
 * other countries.
 */
export const csvText = (rows: readonly CsvRow[]): string =>
  stringify(
    rows.map((row) => row.map(guarded)),
    { delimiter: ';', escape_formulas: true, record_delimiter: 'windows' },
  );

const guarded = (cell: string): string =>
  cell.replaceAll(/[\r\n]+/gu, ' ').replaceAll(/[,;\s"]+/gu, (run, at: number, whole: string) => {
    const next = whole.charAt(at + run.length);
    return /[,;\t]/u.test(run) && next !== '' && FORMULA.includes(next) ? `${run}'` : run;
  });

/** First characters of a formula, including the wide forms of East Asia. */
const FORMULA = '=+-@＝＋－＠';
