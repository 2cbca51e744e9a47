/** CSV as spreadsheets open it: UTF-8 with a mark that says so, parted by semicolons as in Denmark. */
import { stringify } from 'csv-stringify/sync';

export type CsvRow = readonly string[];

/** What a file begins with. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Rows as lines. A cell that begins like a formula would be one in a spreadsheet: it is preceded by an apostrophe. So is
 * what begins a cell for a spreadsheet of another country, which parts them at commas.
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

/** What a formula begins with, in the wide forms of East Asia too. */
const FORMULA = '=+-@＝＋－＠';
