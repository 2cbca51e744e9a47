/** Reads a plan file as people and spreadsheets leave it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { RecordId } from '../../../../providers/provider.ts';
import { readCvrNumber } from '../../../protocol/cvr-number.ts';
import { companyEntityId } from '../../../protocol/entity-id.ts';
import { type CsvLine, type CsvProblem, readCsv } from '../../../runtime/files/csv-rows.ts';
import { ACTIONS, type Action } from '../../follow/verdict.ts';

/** One line of a plan that can be understood. */
export interface PlanLine {
  readonly line: number;
  readonly recordId: string;
  /** The canonical entity id of its number, undefined if the number is no company's. */
  readonly entity: string | undefined;
  /** The number's cell, as it stands. */
  readonly number: string;
  readonly action: Action;
  /** Set if a person says that the record does not mean this company; its action is `skip`. */
  readonly rejected?: true;
  /** What the CRM held when the plan was written; undefined if the file has no such column. */
  readonly scanned: string | undefined;
  /** Set if a spreadsheet took the number's leading zero, which is given back. */
  readonly repaired?: true;
}

/** The action of a line whose company is the wrong one: a match does not propose it again. */
const REJECT = 'reject';
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
): AsyncGenerator<PlanLine | CsvProblem, void, undefined> {
  for await (const row of readCsv(file, ['record', 'number', 'action']))
    yield 'problem' in row ? row : readLine(row, readId);
}

function readLine({ line, cell, has }: CsvLine, readId: (text: string) => RecordId): PlanLine | CsvProblem {
  const named = cell('record');
  if (named === '') return { line, problem: 'the record is blank' };
  if (/^\d+(?:[.,]\d+)?e\+?\d+$/iu.test(named))
    return {
      line,
      problem: `the spreadsheet rounded the record id to ${named}: open the plan with that column as text`,
    };
  const id = readId(named);
  if (id.kind === 'none') return { line, problem: `${named} cannot be a record: ${id.reason}` };
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
    scanned: has('scanned') ? cell('scanned') : undefined,
    entity: isCompany ? companyEntityId(read.number) : undefined,
    ...(isRepaired && { repaired: true }),
    ...(text === REJECT && { rejected: true }),
  };
}
