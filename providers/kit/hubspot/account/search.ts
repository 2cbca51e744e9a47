/** Search of an emulated account: it lags behind writes, and has its own limits. */
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import { type HubspotAccount, refusal, textOf } from './account.ts';
import type { EmulatedCompany } from './records.ts';
import { render } from './render.ts';

const MAX_BODY_CHARS = 3_000;
const MAX_RESULTS = 10_000;
const MAX_PAGE = 200;

type Json = Record<string, unknown>;
interface Seen {
  readonly company: EmulatedCompany;
  readonly text: (name: string) => string | null;
}

/** Answers one search. https://developers.hubspot.com/docs/api-reference/search/guide */
export function search(account: HubspotAccount, body: Json, chars: number): EmulatorAnswer {
  const refuse = (message: string) => refusal(account, 400, 'VALIDATION_ERROR', message);
  if (chars > MAX_BODY_CHARS) return refuse(`The search request is longer than ${MAX_BODY_CHARS} characters`);
  const groups = objects(body.filterGroups).map((group) => objects(group.filters));
  const filters = groups.flat();
  if (groups.length > 5 || filters.length > 18 || groups.some((group) => group.length > 6))
    return refuse('Too many filters or filter groups');
  const unknown = filters.find(
    (filter) => !account.definitions.has(String(filter.propertyName)) || !OPERATORS.has(String(filter.operator)),
  );
  if (unknown !== undefined)
    return refuse(`There was a problem with the request: unknown property or operator in ${JSON.stringify(unknown)}`);
  const limit = typeof body.limit === 'number' ? body.limit : 10;
  const from = Number(body.after ?? 0);
  if (limit < 1 || limit > MAX_PAGE) return refuse(`limit must be between 1 and ${MAX_PAGE}`);
  if (!Number.isInteger(from) || from < 0 || from + limit > MAX_RESULTS)
    return refuse(`after and limit reach beyond the first ${MAX_RESULTS} results`);

  const hits = [...visible(account)].filter(
    (seen) => groups.length === 0 || groups.some((group) => group.every((filter) => matches(filter, seen))),
  );
  const [sort] = Array.isArray(body.sorts) ? body.sorts : [];
  const by = sortOf(sort);
  const keys = new Map(hits.map((seen) => [seen, seen.text(by.name) ?? '']));
  hits.sort((a, b) => by.direction * compare(keys.get(a) ?? '', keys.get(b) ?? ''));
  const properties = Array.isArray(body.properties) ? body.properties.map(String) : [];
  const page = hits.slice(from, from + limit);
  const shown = account.options.searchPages === 'shuffled' ? account.shuffle(page) : page;
  const results = shown.map((seen) => render(seen.company, properties));
  const next =
    from + limit < Math.min(hits.length, MAX_RESULTS) ? { paging: { next: { after: String(from + limit) } } } : {};
  return { status: 200, body: { total: hits.length, results, ...next } };
}

function* visible(account: HubspotAccount): Iterable<Seen> {
  const now = account.now();
  for (const [id, { until }] of account.stale) if (until <= now) account.stale.delete(id);
  for (const live of account.companies.all()) {
    const stale = account.stale.get(live.id);
    const company = stale === undefined ? live : stale.company;
    if (company !== undefined) yield { company, text: (name) => textOf(company, name) };
  }
}

const OPERATORS = new Set(['EQ', 'NEQ', 'IN', 'NOT_IN', 'HAS_PROPERTY', 'NOT_HAS_PROPERTY', 'GT', 'GTE', 'LT', 'LTE']);

function matches(filter: Json, seen: Seen): boolean {
  const name = String(filter.propertyName);
  const text = seen.text(name);
  const value = comparable(name, String(filter.value ?? ''));
  const values = Array.isArray(filter.values) ? filter.values.map(String) : [];
  if (filter.operator === 'HAS_PROPERTY') return text !== null;
  if (filter.operator === 'NOT_HAS_PROPERTY') return text === null;
  if (filter.operator === 'NEQ') return text?.toLowerCase() !== value.toLowerCase();
  // IN compares with lower-case values only, as HubSpot does for texts.
  if (filter.operator === 'NOT_IN') return text === null || !values.includes(text.toLowerCase());
  if (text === null) return false;
  if (filter.operator === 'IN') return values.includes(text.toLowerCase());
  if (filter.operator === 'EQ') return text.toLowerCase() === value.toLowerCase();
  return isInOrder(String(filter.operator), compare(text, value));
}

function isInOrder(operator: string, order: number): boolean {
  switch (operator) {
    case 'GT':
      return order > 0;
    case 'GTE':
      return order >= 0;
    case 'LT':
      return order < 0;
    default:
      return order <= 0;
  }
}

/** A filter may give times in ms since 1970. */
const comparable = (name: string, value: string): string =>
  (name === 'hs_lastmodifieddate' || name === 'createdate') && /^\d+$/.test(value)
    ? new Date(Number(value)).toISOString()
    : value;

function compare(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  if (a !== '' && b !== '' && Number.isFinite(x) && Number.isFinite(y)) return x - y;
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortOf(sort: unknown): { name: string; direction: 1 | -1 } {
  if (typeof sort === 'string')
    return sort.startsWith('-') ? { name: sort.slice(1), direction: -1 } : { name: sort, direction: 1 };
  const [json] = objects([sort]);
  return { name: String(json?.propertyName ?? 'createdate'), direction: json?.direction === 'DESCENDING' ? -1 : 1 };
}

const objects = (json: unknown): Json[] =>
  Array.isArray(json) ? json.flatMap((item) => (typeof item === 'object' && item !== null ? [{ ...item }] : [])) : [];
