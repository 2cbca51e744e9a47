/** `/query`, `/queryAll` and `/tooling/query` of an emulated org, with pages by locators that expire. */

import type { PropertyValue } from '../../provider.ts';
import { toLongId } from '../../salesforce/client/ids.ts';
import type { EmulatorAnswer } from '../emulator/emulator.ts';
import { holds, ordered } from './conditions.ts';
import type { StoredAccount } from './org/accounts.ts';
import { type Org, rawValue, salesforceTime } from './org/org.ts';
import { refusal } from './org/refusal.ts';
import { OBJECTS, type ObjectSpec, type StoredRow } from './org/tables.ts';
import { render } from './records.ts';
import { parseSoql, type Query } from './soql.ts';

const MAX_PAGE = 2_000;
const LOCATOR_MS = 900_000;

/** `all` includes the recycle bin. */
export interface QueryOptions {
  readonly all?: true;
  readonly tooling?: true;
}

export function answerQuery(org: Org, soql: string, asked: QueryOptions = {}): EmulatorAnswer {
  const query = parseSoql(soql);
  if (query === undefined) return refusal(400, 'MALFORMED_QUERY', 'unexpected token');
  if (query.object === 'Account' && asked.tooling !== true) return queryAccounts(org, query, asked.all === true);
  const spec = OBJECTS[query.object];
  if (spec === undefined || spec.tooling !== asked.tooling || !isVisible(org, query.object))
    return refusal(400, 'INVALID_TYPE', `sObject type '${query.object}' is not supported.`);
  return queryObject(org, query, spec, asked.all === true);
}

export function answerLocator(org: Org, locator: string): EmulatorAnswer {
  const open = org.locators.get(locator);
  org.locators.delete(locator);
  if (open === undefined || open.until <= org.now())
    return refusal(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
  return page(org, open.rows, open.total);
}

/** The only field of another object that a query of accounts may select here. */
const MODIFIER = 'LastModifiedBy.Name';
const modifierOf = (org: Org, { modifiedById }: StoredAccount): string =>
  org.users.nameOf(modifiedById ?? org.tokens.userId);

function queryAccounts(org: Org, query: Query, all: boolean): EmulatorAnswer {
  const unknown = namesIn(query).find((name) => name !== MODIFIER && org.field(name) === undefined);
  if (unknown !== undefined) return noColumn(unknown, 'Account');
  const unfilterable = query.where.find(({ field }) => org.field(field)?.filterable === false);
  if (unfilterable !== undefined) return noFilter(unfilterable.field);
  const own = query.fields.filter((name) => name !== MODIFIER);
  const rows = select(org, query, all).map((account) => ({
    ...render(org, account, own),
    ...(own.length < query.fields.length && { LastModifiedBy: { Name: modifierOf(org, account) } }),
  }));
  return page(org, rows, rows.length);
}

function queryObject(org: Org, query: Query, spec: ObjectSpec, all: boolean): EmulatorAnswer {
  const known = ['Id', 'IsDeleted', 'CreatedDate', 'SystemModstamp', ...spec.fields];
  const unknown = namesIn(query).find((name) => !known.includes(name));
  if (unknown !== undefined) return noColumn(unknown, query.object);
  const unfilterable = query.where.find(({ field }) => spec.unfilterable?.includes(field) === true);
  if (unfilterable !== undefined) return noFilter(unfilterable.field);
  if (query.object === 'ContentDocumentLink' && !query.where.some(isLinkFilter)) {
    const message = 'ContentDocumentLink requires a filter by a single Id on ContentDocumentId or LinkedEntityId';
    return refusal(400, 'MALFORMED_QUERY', `Implementation restriction: ${message}`);
  }
  const found = org.tables
    .rows(query.object)
    .filter((row) => (all || !row.deleted) && query.where.every((condition) => holds(row, condition, fieldOf)));
  const rows = ordered(found, query.order, fieldOf).slice(0, query.limit);
  return page(
    org,
    rows.map((row) => renderRow(row, query.fields)),
    rows.length,
  );
}

function page(org: Org, rows: readonly object[], totalSize: number): EmulatorAnswer {
  const size = Math.min(org.options.pageSize ?? MAX_PAGE, MAX_PAGE);
  if (rows.length <= size) return { status: 200, body: { totalSize, done: true, records: rows } };
  const locator = `01gQy0000000001-${org.locators.size}-${totalSize - rows.length + size}`;
  org.locators.set(locator, {
    rows: rows.slice(size),
    total: totalSize,
    until: org.now() + (org.options.locatorMs ?? LOCATOR_MS),
  });
  const nextRecordsUrl = `/services/data/v67.0/query/${locator}`;
  return { status: 200, body: { totalSize, done: false, nextRecordsUrl, records: rows.slice(0, size) } };
}

function select(org: Org, query: Query, all: boolean): readonly StoredAccount[] {
  const byId = query.order.every(({ field, descending }) => field === 'Id' && !descending);
  const limit = query.limit ?? Number.POSITIVE_INFINITY;
  const found: StoredAccount[] = [];
  const { rows, rest } = candidates(org, query.where);
  for (const account of rows) {
    if (byId && found.length >= limit) break;
    if ((all || !account.deleted) && rest.every((condition) => holds(account, condition, rawValue)))
      found.push(account);
  }
  return byId ? found : ordered(found, query.order, sortValue).slice(0, limit);
}

/** Conditions on Id and SystemModstamp use an index; the rest filters. */
function candidates(org: Org, where: Query['where']): { rows: Iterable<StoredAccount>; rest: Query['where'] } {
  const named = where.find(({ field, operator }) => field === 'Id' && (operator === 'IN' || operator === '='));
  if (named !== undefined)
    return { rows: named.values.flatMap((id) => org.accounts.find(String(id)) ?? []), rest: where };
  const after = where.find(({ field, operator }) => field === 'Id' && operator === '>');
  const since = where.find(({ field, operator }) => field === 'SystemModstamp' && operator === '>=');
  const rows = org.accounts.ordered(after === undefined ? undefined : toLongId(String(after.values[0])));
  const oldest = since === undefined ? undefined : Date.parse(String(since.values[0])) / 1_000;
  return {
    rows: oldest === undefined ? rows : rows.filter(({ updatedAt }) => Math.floor(updatedAt / 1_000) >= oldest),
    rest: where.filter((condition) => condition !== since && condition !== after),
  };
}

/** A stamp as a number, so that sorting a hundred thousand of them is quick. */
const sortValue = (account: StoredAccount, name: string): PropertyValue =>
  name === 'SystemModstamp' ? Math.floor(account.updatedAt / 1_000) : rawValue(account, name);

function isVisible({ options }: Org, object: string): boolean {
  if (object === 'Organization') return options.organizationVisible !== false;
  if (object === 'CurrencyType') return options.currencies !== undefined;
  if (object === 'ContentNote' || object === 'ContentDocumentLink') return options.notesEnabled !== false;
  return object !== 'ValidationRule' || options.mayCustomize !== false;
}

const namesIn = ({ fields, where, order }: Query): readonly string[] => [
  ...fields,
  ...where.map(({ field }) => field),
  ...order.map(({ field }) => field),
];

const isLinkFilter = ({ field, operator }: Query['where'][number]): boolean =>
  (field === 'ContentDocumentId' || field === 'LinkedEntityId') && (operator === '=' || operator === 'IN');

function fieldOf(row: StoredRow, name: string): PropertyValue {
  if (name === 'Id') return row.id;
  if (name === 'IsDeleted') return row.deleted;
  if (name === 'CreatedDate' || name === 'SystemModstamp') return salesforceTime(row.createdAt);
  return row.values[name] ?? null;
}

/** A field of a related object is in a nested object. */
function renderRow(row: StoredRow, names: readonly string[]): object {
  const body: Record<string, unknown> = { attributes: { type: row.object } };
  for (const name of names) {
    const [first = '', second] = name.split('.');
    const value = fieldOf(row, name);
    body[first] = second === undefined ? value : { ...Object(body[first]), [second]: value };
  }
  return body;
}

const noColumn = (name: string, object: string): EmulatorAnswer =>
  refusal(400, 'INVALID_FIELD', `No such column '${name}' on entity '${object}'.`);

const noFilter = (name: string): EmulatorAnswer =>
  refusal(400, 'INVALID_FIELD', `field '${name}' can not be filtered in a query call`);
