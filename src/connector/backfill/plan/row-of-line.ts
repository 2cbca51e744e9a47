/** What the lines of a plan make of the rows that they name. Pure. */
import { readCvrNumber } from '../../../protocol/cvr-number.ts';
import type { CsvProblem } from '../../../runtime/files/csv-rows.ts';
import { UNSURE, verdictOf } from '../../follow/verdict.ts';
import type { ScanRow } from '../rows/scan-rows.ts';
import { ownOf } from './moved-numbers.ts';
import type { PlanLine } from './read-plan.ts';

/** What a person says by lines: records that would be linked by their own number and are not to be, and those that are. */
export function answersOf(page: readonly (PlanLine | CsvProblem)[], rows: ReadonlyMap<string, ScanRow>) {
  const lines = page.flatMap((one) => ('problem' in one ? [] : one));
  const skips = lines.flatMap(({ action, recordId: record }) => {
    const row = rows.get(record);
    const entity = action === 'skip' && row?.verdict === 'matched' && !UNSURE.includes(row.detail) ? ownOf(row) : null;
    return entity === null ? [] : { record, entity };
  });
  const rejected = lines.flatMap(({ rejected: isRejected, entity, recordId: record }) =>
    isRejected && entity !== undefined ? { record, entity } : [],
  );
  return { skips, rejected, links: lines.filter(({ action }) => action === 'link').map(({ recordId }) => recordId) };
}

/** The row as a line that links it would have it. */
export function rowOfLine(row: ScanRow, line: PlanLine): ScanRow {
  const entity = line.entity ?? null;
  const isTheirs = verdictOf(row.found, false).entity !== entity;
  if (isTheirs && line.scanned !== undefined && !isOf(line.scanned, row.found ?? '')) {
    const detail = `its number was ${line.scanned || 'blank'} when the plan was made, and is ${row.found ?? 'blank'} now`;
    return { ...row, verdict: 'changed', detail, action: 'skip', state: 'done' };
  }
  const detail = isTheirs ? 'the number was given in the plan' : row.detail;
  return { ...row, entity, detail, action: 'link', state: 'planned' };
}

/**
 * Whether a cell says what a record holds, as far as spreadsheets keep it: else the plan is of another scan or account, and
 * its number is not one that a person gave to this record.
 */
function isOf(cell: string, found: string): boolean {
  const number = (text: string): string => {
    const read = readCvrNumber(text, { pad: true });
    // What is no number is compared without letters that a code page changes, and apostrophes that guard.
    return read.kind === 'number' ? read.number : text.replaceAll(/[^\u0021-\u007e]+|'/gu, '');
  };
  return number(cell) === number(found);
}
