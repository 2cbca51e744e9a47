/**
 * The part of Elasticsearch 6 that clients of the register use: range, term, match_phrase and bool queries, sort,
 * search_after. As strict as the original: the window ends at 3,000, numbers sort as texts, a `term` on an analysed
 * text matches nothing, and anything unknown is an error.
 */
import { isJsonObject } from '../../protocol/text/json.ts';

export class QueryRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
  }
}

export interface Hit {
  readonly _index: string;
  readonly _type: '_doc';
  readonly _id: string;
  readonly _score: null;
  readonly _source?: RegisterHit;
  readonly sort?: readonly (string | number)[];
}

export type RegisterHit = Readonly<Record<string, unknown>>;

export interface SearchHits {
  readonly total: number;
  readonly hits: readonly Hit[];
}

const WINDOW = 3_000;
const KNOWN = ['query', 'sort', 'size', 'from', 'search_after', '_source', 'track_total_hits'];
/** Keyword fields: searched and sorted as texts. */
const KEYWORDS = /\.(?:cvrNummer|pNummer)$/;
/** Date fields: sorted as ms since 1970. */
const DATES = /\.(?:sidstIndlaest|sidstOpdateret)$/;

/** Answers one search. Throws {@link QueryRefusal}. */
export function search(index: string, documents: ReadonlyMap<string, RegisterHit>, body: unknown): SearchHits {
  if (!isJsonObject(body)) throw new QueryRefusal(400, 'parsing_exception: the body is no object');
  const strange = Object.keys(body).find((key) => !KNOWN.includes(key));
  if (strange !== undefined) throw new QueryRefusal(400, `parsing_exception: Unknown key for a value in [${strange}].`);
  const size = count(body['size'] ?? 10, 'size');
  const from = count(body['from'] ?? 0, 'from');
  if (from + size > WINDOW) {
    throw new QueryRefusal(
      400,
      `query_phase_execution_exception: Result window is too large, from + size must be less than or equal to: [${WINDOW}] but was [${from + size}].`,
    );
  }
  const matches = matcher(body['query'] ?? { match_all: {} });
  const order = readSort(body['sort']);
  const found = [...documents]
    .filter(([, document]) => matches(document))
    .map(([id, document]) => ({ id, document, sort: order.map((field) => sortValue(document, field.path)) }))
    .sort((a, b) => compareAll(a.sort, b.sort, order));
  const after = readAfter(body['search_after'], order, from);
  const rest = after === undefined ? found : found.filter(({ sort }) => compareAll(sort, after, order) > 0);
  const hits = rest.slice(from, from + size).map(({ id, document, sort }): Hit => {
    const hit = {
      _index: `cvr-v-${index}`,
      _type: '_doc',
      _id: id,
      _score: null,
      ...(body['_source'] !== false && { _source: document }),
    } as const;
    return order.length > 0 ? { ...hit, sort } : hit;
  });
  return { total: found.length, hits };
}

type Matcher = (document: RegisterHit) => boolean;

function matcher(query: unknown): Matcher {
  const [[kind, inner] = [], ...others] = isJsonObject(query) ? Object.entries(query) : [];
  if (kind === undefined || others.length > 0) throw new QueryRefusal(400, 'parsing_exception: [query] malformed');
  if (kind === 'match_all') return () => true;
  if (kind === 'bool') return bool(inner);
  const [[path, wanted] = []] = isJsonObject(inner) ? Object.entries(inner) : [];
  if (path === undefined) throw new QueryRefusal(400, `parsing_exception: [${kind}] names no field`);
  if (kind === 'range' && isJsonObject(wanted)) return range(path, wanted);
  if (kind === 'term') return terms(path, [wanted]);
  if (kind === 'terms' && Array.isArray(wanted)) return terms(path, wanted);
  if (kind === 'match_phrase') {
    const phrase = String(wanted).toLowerCase();
    return (document) => valuesAt(document, path).some((value) => String(value).toLowerCase().includes(phrase));
  }
  throw new QueryRefusal(400, `parsing_exception: no [query] registered for [${kind}]`);
}

function bool(inner: unknown): Matcher {
  const clauses = isJsonObject(inner) ? inner : {};
  const read = (name: string): Matcher[] => {
    const clause = clauses[name];
    return clause === undefined ? [] : (Array.isArray(clause) ? clause : [clause]).map(matcher);
  };
  const all = [...read('must'), ...read('filter')];
  const none = read('must_not');
  const some = read('should');
  return (document) =>
    all.every((matches) => matches(document)) &&
    !none.some((matches) => matches(document)) &&
    (some.length === 0 || all.length > 0 || some.some((matches) => matches(document)));
}

function range(path: string, bounds: Readonly<Record<string, unknown>>): Matcher {
  const tests = Object.entries(bounds).map(([name, bound]): ((value: number) => boolean) => {
    const limit = typeof bound === 'number' ? bound : Date.parse(String(bound));
    if (Number.isNaN(limit)) throw new QueryRefusal(400, `parse_exception: failed to parse date field [${bound}]`);
    if (name === 'gte') return (value) => value >= limit;
    if (name === 'gt') return (value) => value > limit;
    if (name === 'lte') return (value) => value <= limit;
    if (name === 'lt') return (value) => value < limit;
    throw new QueryRefusal(400, `parsing_exception: [range] query does not support [${name}]`);
  });
  return (document) =>
    valuesAt(document, path).some((value) => {
      const number = DATES.test(path) ? Date.parse(String(value)) : Number(value);
      return tests.every((test) => test(number));
    });
}

function terms(path: string, wanted: readonly unknown[]): Matcher {
  const texts = new Set(wanted.map(String));
  return (document) =>
    // Elasticsearch stores a text as its words in lower case: a whole text matches nothing.
    valuesAt(document, path).some(
      (value) => (typeof value !== 'string' || KEYWORDS.test(path)) && texts.has(String(value)),
    );
}

function valuesAt(document: unknown, path: string): readonly unknown[] {
  return path.split('.').reduce<readonly unknown[]>(
    (values, name) =>
      values.flatMap((value) => {
        const inner = isJsonObject(value) ? value[name] : undefined;
        return inner === undefined || inner === null ? [] : Array.isArray(inner) ? inner : [inner];
      }),
    [document],
  );
}

interface Order {
  readonly path: string;
  readonly sign: 1 | -1;
}

function readSort(sort: unknown): readonly Order[] {
  if (sort === undefined) return [];
  return (Array.isArray(sort) ? sort : [sort]).map((entry: unknown): Order => {
    if (typeof entry === 'string') return { path: entry, sign: 1 };
    const [[path, how] = []] = isJsonObject(entry) ? Object.entries(entry) : [];
    const direction = isJsonObject(how) ? how['order'] : how;
    if (path === undefined || (direction !== 'asc' && direction !== 'desc'))
      throw new QueryRefusal(400, 'parsing_exception: [sort] malformed');
    if (!KEYWORDS.test(path) && !DATES.test(path))
      throw new QueryRefusal(400, `illegal_argument_exception: Fielddata is disabled on text fields: [${path}]`);
    return { path, sign: direction === 'asc' ? 1 : -1 };
  });
}

function readAfter(after: unknown, order: readonly Order[], from: number): readonly (string | number)[] | undefined {
  if (after === undefined) return undefined;
  if (from > 0) throw new QueryRefusal(400, '`from` parameter must be set to 0 when `search_after` is used.');
  if (!Array.isArray(after) || after.length !== order.length)
    throw new QueryRefusal(400, 'search_after has a different number of values than sort');
  return after.map((value: unknown, place) => {
    const wanted = DATES.test(order[place]?.path ?? '') ? 'number' : 'string';
    if (typeof value !== wanted || (typeof value !== 'string' && typeof value !== 'number'))
      throw new QueryRefusal(400, `Failed to parse search_after value for field [${order[place]?.path}].`);
    return value;
  });
}

function sortValue(document: RegisterHit, path: string): string | number {
  const [value] = valuesAt(document, path);
  // As in Elasticsearch, documents without the field come last.
  if (value === undefined) return Number.MAX_SAFE_INTEGER;
  return DATES.test(path) ? Date.parse(String(value)) : String(value);
}

function compareAll(a: readonly (string | number)[], b: readonly (string | number)[], order: readonly Order[]): number {
  for (const [place, { sign }] of order.entries()) {
    const [left = 0, right = 0] = [a[place], b[place]];
    if (left !== right) return left < right ? -sign : sign;
  }
  return 0;
}

function count(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new QueryRefusal(400, `parsing_exception: [${name}] must be a whole number from 0 on`);
}
