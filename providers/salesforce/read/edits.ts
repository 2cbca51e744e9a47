/** Who changed accounts, and when: from the field history if the org tracks the field, else the last change. */
import type { PropertyEdit } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { isNotForUser, SalesforceRefusal, unexpectedAnswer } from '../client/errors.ts';
import { isAccountId, toLongId } from '../client/ids.ts';
import { objectOf, textOf } from '../client/json.ts';
import type { AccountRow } from '../client/update-call.ts';
import type { SalesforceSchema } from './fields.ts';
import { fieldHistoryQuery, modifiedQuery } from './soql.ts';
import { fromSalesforce } from './values.ts';

/** Queries use GET: 60 ids keep the address under 2,000 characters. */
const IDS_IN_A_QUERY = 60;
const SECOND_MS = 1_000;

interface EditsAsked {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  /** Ms since 1970, by Salesforce's clock, which has whole seconds here. */
  readonly since: number;
}

/**
 * Makes two calls for 60 accounts, and one more for each further 2,000 changes. A field without a row in the history is
 * not tracked, or did not change: the result then names who last changed the record, without a value.
 */
export async function readEdits(
  calls: Calls,
  { ids, names, since }: EditsAsked,
  schema: SalesforceSchema,
): Promise<readonly PropertyEdit[]> {
  const asked = [...new Set(ids.filter(isAccountId).map(toLongId))];
  const from = Math.floor(since / SECOND_MS) * SECOND_MS;
  const edits: PropertyEdit[] = [];
  for (let at = 0; at < asked.length; at += IDS_IN_A_QUERY) {
    const some = asked.slice(at, at + IDS_IN_A_QUERY);
    const { userId } = await calls.session();
    const tracked = await trackedEdits(calls, { ids: some, names, since: from }, { schema, userId });
    const hasRow = new Set(tracked.map(({ id, property }) => `${id} ${property}`));
    const { rows } = await calls.query(modifiedQuery(some, time(from)));
    edits.push(...tracked);
    for (const row of rows) {
      const last = lastChange(row, userId);
      for (const property of names) if (!hasRow.has(`${last.id} ${property}`)) edits.push({ ...last, property });
    }
  }
  return edits.sort((a, b) => a.at - b.at);
}

async function trackedEdits(
  calls: Calls,
  { ids, names, since }: EditsAsked,
  { schema, userId }: { readonly schema: SalesforceSchema; readonly userId: string },
): Promise<readonly PropertyEdit[]> {
  const edits: PropertyEdit[] = [];
  for (let after = ''; ; ) {
    const page = await rowsOrNone(calls, fieldHistoryQuery(ids, time(since), after));
    for (const row of page.rows) {
      const property = fieldOf(row);
      if (!names.includes(property)) continue;
      // Salesforce tracks long texts without their values.
      const isValueless = row.NewValue === null && row.OldValue === null;
      const value = isValueless ? {} : { value: fromSalesforce(row.NewValue, schema.get(property)) };
      edits.push({ ...authorOf(row, userId), id: accountOf(row.AccountId), property, ...value });
    }
    const last = textOf(page.rows.at(-1)?.Id);
    if (page.done || last === undefined) return edits;
    after = last;
  }
}

/** An org without field history lacks the object, or hides it from the user. */
async function rowsOrNone(calls: Calls, soql: string): ReturnType<Calls['query']> {
  try {
    return await calls.query(soql);
  } catch (error) {
    if (error instanceof SalesforceRefusal && isNotForUser(error)) return { rows: [], done: true };
    throw error;
  }
}

/** The history has its own name for an account's name. */
function fieldOf(row: AccountRow): string {
  const field = textOf(row.Field);
  if (field === undefined) throw unexpectedAnswer('a query for changes');
  return field === 'TextName' ? 'Name' : field;
}

const authorOf = (row: AccountRow, userId: string) => ({
  at: timeOf(row.CreatedDate),
  by: personOf(row.CreatedBy, row.CreatedById),
  own: isUser(row.CreatedById, userId),
});

const lastChange = (row: AccountRow, userId: string) => ({
  id: accountOf(row.Id),
  at: timeOf(row.LastModifiedDate),
  by: personOf(row.LastModifiedBy, row.LastModifiedById),
  own: isUser(row.LastModifiedById, userId),
});

function accountOf(value: unknown): string {
  const id = textOf(value);
  if (id === undefined) throw unexpectedAnswer('a query for changes');
  return toLongId(id);
}

function timeOf(value: unknown): number {
  const ms = Date.parse((textOf(value) ?? '').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  if (Number.isNaN(ms)) throw unexpectedAnswer('a query for changes');
  return ms;
}

const personOf = (person: unknown, id: unknown): string =>
  textOf(objectOf(person)?.Name) ?? `Salesforce user ${textOf(id) ?? 'unknown'}`;

function isUser(id: unknown, userId: string): boolean {
  const text = textOf(id);
  return text !== undefined && toLongId(text) === toLongId(userId);
}

const time = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
