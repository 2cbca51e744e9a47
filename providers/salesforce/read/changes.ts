/**
 * What happened to accounts, by the time Salesforce stamps on every change (SystemModstamp), the recycle bin included.
 *
 * A sweep reads from a time to the end. A change gets its stamp before it is committed, so the next sweep begins
 * some minutes before this one did. Stamps are compared by the second: a page goes on at the second it ended in, and a
 * second with more changes than a page holds is read by id.
 */
import { type ChangeHint, type Changes, ProviderError } from '../../provider.ts';
import type { AccountRow, Calls } from '../client/client.ts';
import { strangeAnswer } from '../client/errors.ts';
import { isAccountId, to18 } from '../client/ids.ts';
import { textOf } from '../client/json.ts';
import type { SalesforceSchema } from './fields.ts';
import { valuesOf } from './read.ts';
import { changedInSecondQuery, changedQuery, SERVER_TIME_QUERY } from './soql.ts';

/** A transaction lasts ten minutes at most. https://developer.salesforce.com/docs/atlas.en-us.apexcode.meta/apexcode/apex_gov_limits.htm */
const OVERLAP_MS = 10 * 60_000;
const SECOND_MS = 1_000;
const PAGE = 2_000;

/** Where the next call begins; the time is in ms, by Salesforce's clock. */
interface Mark {
  readonly from: number;
  /** When the sweep under way began; undefined between sweeps. */
  readonly began?: number;
  /** The id after which to go on within the second `from`; empty at its beginning. */
  readonly after?: string;
}

/** The fields of accounts that the user may read. */
export interface VisibleFields {
  readonly names: readonly string[];
  readonly schema: SalesforceSchema;
}

/** One page of a sweep; `now` replaces Salesforce's clock where an answer does not state it. */
export async function changedAccounts(
  calls: Calls,
  { names, schema }: VisibleFields,
  cursor: string | undefined,
  now: () => number,
): Promise<Changes> {
  if (cursor === undefined) {
    await calls.query(SERVER_TIME_QUERY);
    return { changeHints: [], cursor: write({ from: overlapped(calls.serverTime() ?? now()) }), more: false };
  }
  const mark = read(cursor);
  const page = await ask(calls, names, mark);
  const next = nextMark(mark, page, mark.began ?? calls.serverTime() ?? now());
  const changeHints = page.rows.map((row) => changeHintOf(row, names, schema));
  return { changeHints, cursor: write(next), more: next.began !== undefined };
}

interface Answer {
  readonly rows: readonly AccountRow[];
  /** True where nothing is left of what was asked. */
  readonly whole: boolean;
}

async function ask(calls: Calls, names: readonly string[], { from, after }: Mark): Promise<Answer> {
  const soql =
    after === undefined
      ? changedQuery(names, time(from), PAGE)
      : changedInSecondQuery(names, { from: time(from), to: time(from + SECOND_MS), after }, PAGE);
  const { rows, done } = await calls.query(soql, 'all');
  if (rows.length === 0 && !done) throw strangeAnswer('a query for changes');
  return { rows, whole: done && rows.length < PAGE };
}

/** Where to go on after a page; pure. */
function nextMark({ from, after }: Mark, { rows, whole }: Answer, began: number): Mark {
  const end = rows.at(-1);
  if (after !== undefined) {
    const id = textOf(end?.Id);
    return whole || id === undefined ? { from: from + SECOND_MS, began } : { from, began, after: to18(id) };
  }
  if (whole || end === undefined) return { from: Math.max(from, overlapped(began)) };
  const second = Math.floor(stampOf(end) / SECOND_MS) * SECOND_MS;
  return second > from ? { from: second, began } : { from, began, after: '' };
}

function changeHintOf(row: AccountRow, names: readonly string[], schema: SalesforceSchema): ChangeHint {
  const [id, master] = [textOf(row.Id), textOf(row.MasterRecordId)];
  if (id === undefined) throw strangeAnswer('a query for changes');
  if (row.IsDeleted !== true) return { kind: 'seen', id: to18(id), properties: valuesOf(row, names, schema) };
  return master === undefined ? { kind: 'gone', id: to18(id) } : { kind: 'moved', id: to18(id), to: to18(master) };
}

function stampOf(row: AccountRow): number {
  const ms = Date.parse((textOf(row.SystemModstamp) ?? '').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  if (Number.isNaN(ms)) throw strangeAnswer('a query for changes');
  return ms;
}

const overlapped = (ms: number): number => Math.floor((ms - OVERLAP_MS) / SECOND_MS) * SECOND_MS;

const time = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:\/(\d+)(?:\/(\w*))?)?$/;

const write = ({ from, began, after }: Mark): string =>
  [time(from), began, after].filter((part) => part !== undefined).join('/');

function read(cursor: string): Mark {
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
