/**
 * Reads the changes of accounts, including the recycle bin, by the time that Salesforce stamps on each
 * (SystemModstamp). A sweep reads from a time to the end. A change gets its stamp before it is committed, so the next sweep
 * begins some minutes before this one did. Stamps compare by the second: a page continues at the second in which the
 * last one ended, and a second with more changes than a page holds is read by id.
 */
import { type ChangeHint, type Changes, ProviderError } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { unexpectedAnswer } from '../client/errors.ts';
import { isAccountId, toLongId } from '../client/ids.ts';
import { textOf } from '../client/json.ts';
import type { AccountRow } from '../client/update-call.ts';
import type { SalesforceSchema } from './fields.ts';
import { valuesOf } from './read.ts';
import { changedInSecondQuery, changedQuery, SERVER_TIME_QUERY } from './soql.ts';

/**
 * A transaction lasts ten minutes at most.
 * https://developer.salesforce.com/docs/atlas.en-us.apexcode.meta/apexcode/apex_gov_limits.htm
 */
const OVERLAP_MS = 10 * 60_000;
const SECOND_MS = 1_000;
const PAGE = 2_000;

/** The position of the next call; the time is in ms, by Salesforce's clock. */
interface SweepCursor {
  readonly from: number;
  /** When the current sweep began; absent between sweeps. */
  readonly began?: number;
  /** The last id read within the second `from`; empty at its beginning. */
  readonly after?: string;
}

export interface VisibleFields {
  readonly names: readonly string[];
  readonly schema: SalesforceSchema;
}

/** Reads one page of a sweep; `now` replaces Salesforce's clock if an answer does not state it. */
export async function changedAccounts(
  calls: Calls,
  { names, schema }: VisibleFields,
  cursor: string | undefined,
  now: () => number,
): Promise<Changes> {
  if (cursor === undefined) {
    await calls.query(SERVER_TIME_QUERY);
    return { changeHints: [], cursor: formatCursor({ from: withOverlap(calls.serverTime() ?? now()) }), more: false };
  }
  const mark = parseCursor(cursor);
  const page = await ask(calls, names, mark);
  const next = nextCursor(mark, page, mark.began ?? calls.serverTime() ?? now());
  const changeHints = page.rows.map((row) => changeHintOf(row, names, schema));
  return { changeHints, cursor: formatCursor(next), more: next.began !== undefined };
}

interface Answer {
  readonly rows: readonly AccountRow[];
  /** Nothing is left of the query. */
  readonly isLast: boolean;
}

async function ask(calls: Calls, names: readonly string[], { from, after }: SweepCursor): Promise<Answer> {
  const soql =
    after === undefined
      ? changedQuery(names, time(from), PAGE)
      : changedInSecondQuery(names, { from: time(from), to: time(from + SECOND_MS), after }, PAGE);
  const { rows, done } = await calls.query(soql, 'all');
  if (rows.length === 0 && !done) throw unexpectedAnswer('a query for changes');
  return { rows, isLast: done && rows.length < PAGE };
}

function nextCursor({ from, after }: SweepCursor, { rows, isLast }: Answer, began: number): SweepCursor {
  const end = rows.at(-1);
  if (after !== undefined) {
    const id = textOf(end?.Id);
    return isLast || id === undefined ? { from: from + SECOND_MS, began } : { from, began, after: toLongId(id) };
  }
  if (isLast || end === undefined) return { from: Math.max(from, withOverlap(began)) };
  const second = Math.floor(stampOf(end) / SECOND_MS) * SECOND_MS;
  return second > from ? { from: second, began } : { from, began, after: '' };
}

function changeHintOf(row: AccountRow, names: readonly string[], schema: SalesforceSchema): ChangeHint {
  const [id, master] = [textOf(row.Id), textOf(row.MasterRecordId)];
  if (id === undefined) throw unexpectedAnswer('a query for changes');
  if (row.IsDeleted !== true) return { kind: 'seen', id: toLongId(id), properties: valuesOf(row, names, schema) };
  return master === undefined
    ? { kind: 'gone', id: toLongId(id) }
    : { kind: 'moved', id: toLongId(id), to: toLongId(master) };
}

function stampOf(row: AccountRow): number {
  const ms = Date.parse((textOf(row.SystemModstamp) ?? '').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  if (Number.isNaN(ms)) throw unexpectedAnswer('a query for changes');
  return ms;
}

const withOverlap = (ms: number): number => Math.floor((ms - OVERLAP_MS) / SECOND_MS) * SECOND_MS;

const time = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:\/(\d+)(?:\/(\w*))?)?$/;

const formatCursor = ({ from, began, after }: SweepCursor): string =>
  [time(from), began, after].filter((part) => part !== undefined).join('/');

function parseCursor(cursor: string): SweepCursor {
  const [, from = '', began, after] = CURSOR.exec(cursor) ?? [];
  const at = Date.parse(from);
  if (Number.isNaN(at) || (after !== undefined && after !== '' && !isAccountId(after)))
    throw new ProviderError('refused', 'the cursor of the changes is not one of Salesforce; begin again without it');
  return {
    from: at,
    ...(began === undefined ? {} : { began: Number(began) }),
    ...(after === undefined ? {} : { after }),
  };
}
