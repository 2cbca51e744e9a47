/** `/query` and `/queryAll` of an emulated org, paged by locators that end. */
import type { EmulatorAnswer } from '../../emulator.ts';
import type { PropertyValue } from '../../provider.ts';
import { to18 } from '../ids.ts';
import type { StoredAccount } from './accounts.ts';
import { type Org, rawValue } from './org.ts';
import { render } from './records.ts';
import { refusal } from './refusal.ts';
import { type Condition, parseSoql, type Query } from './soql.ts';

const MAX_PAGE = 2_000;
const LOCATOR_MS = 900_000;
const IDS: ReadonlySet<string> = new Set(['Id', 'MasterRecordId']);

/** Answers a query; `all` sees the recycle bin. */
export function answerQuery(org: Org, soql: string, all: boolean): EmulatorAnswer {
  const query = parseSoql(soql);
  if (query === undefined) return refusal(400, 'MALFORMED_QUERY', 'unexpected token');
  if (query.object === 'Organization') return organization(org);
  if (query.object !== 'Account')
    return refusal(400, 'INVALID_TYPE', `sObject type '${query.object}' is not supported.`);
  const unknown = [...query.fields, ...query.where.map((condition) => condition.field)].find(
    (name) => org.field(name) === undefined,
  );
  if (unknown !== undefined) return refusal(400, 'INVALID_FIELD', `No such column '${unknown}' on entity 'Account'.`);
  const fixed = query.where.find((condition) => org.field(condition.field)?.filterable === false);
  if (fixed !== undefined)
    return refusal(400, 'INVALID_FIELD', `field '${fixed.field}' can not be filtered in a query call`);
  const rows = select(org, query, all).map((account) => render(org, account, query.fields));
  return page(org, rows, rows.length);
}

/** Answers `nextRecordsUrl`. */
export function answerLocator(org: Org, locator: string): EmulatorAnswer {
  const open = org.locators.get(locator);
  org.locators.delete(locator);
  if (open === undefined || open.until <= org.now())
    return refusal(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
  return page(org, open.rows, open.total);
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
  const found: StoredAccount[] = [];
  const limit = query.limit ?? Number.POSITIVE_INFINITY;
  for (const account of candidates(org, query)) {
    if (found.length >= limit) break;
    if ((all || !account.deleted) && query.where.every((condition) => holds(account, condition))) found.push(account);
  }
  return found;
}

/** Conditions on Id are indexed: the rest is filtered. */
function candidates(org: Org, query: Query): Iterable<StoredAccount> {
  const named = query.where.find(({ field, operator }) => field === 'Id' && (operator === 'IN' || operator === '='));
  if (named !== undefined) return named.values.flatMap((id) => org.accounts.find(String(id)) ?? []);
  const after = query.where.find(({ field, operator }) => field === 'Id' && operator === '>');
  return org.accounts.ordered(after === undefined ? undefined : to18(String(after.values[0])));
}

function holds(account: StoredAccount, { field, operator, values }: Condition): boolean {
  const raw = rawValue(account, field);
  const wanted = values.map((value) => (IDS.has(field) && typeof value === 'string' ? to18(value) : value));
  const [right = null] = wanted;
  switch (operator) {
    case 'IN':
      return wanted.some((value) => same(raw, value));
    case '=':
      return same(raw, right);
    case '!=':
      return !same(raw, right);
    default:
      return compare(raw, right, operator);
  }
}

/** SOQL compares texts without regard to case, ids with. */
const same = (a: PropertyValue, b: PropertyValue): boolean =>
  typeof a === 'string' && typeof b === 'string' ? a.toLowerCase() === b.toLowerCase() : (a ?? false) === (b ?? false);

function compare(a: PropertyValue, b: PropertyValue, operator: '>' | '<' | '>=' | '<='): boolean {
  if (a === null || b === null) return false;
  const [left, right] = [sortable(a), sortable(b)];
  if (operator === '>') return left > right;
  if (operator === '<') return left < right;
  return operator === '>=' ? left >= right : left <= right;
}

function sortable(value: string | number | boolean): string | number {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number' || !/^\d{4}-\d\d-\d\dT/.test(value)) return value;
  return new Date(value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')).toISOString();
}

function organization(org: Org): EmulatorAnswer {
  if (org.options.organizationVisible === false)
    return refusal(400, 'INVALID_TYPE', "sObject type 'Organization' is not supported.");
  const record = {
    Id: org.tokens.organizationId,
    Name: 'Emulated Org',
    OrganizationType: 'Enterprise Edition',
    IsSandbox: false,
  };
  return { status: 200, body: { totalSize: 1, done: true, records: [record] } };
}
