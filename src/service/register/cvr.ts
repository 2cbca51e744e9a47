/**
 * The register's own distribution: Elasticsearch 6 over HTTP, asked for what it loaded since the last page.
 *
 * It is read along `sidstIndlaest`, which moves with everything in a document; `sidstOpdateret` does not
 * (https://datacvr.virk.dk, system-til-system). Companies and production units are two indices, read in turns.
 */
import type { Http, HttpResponse } from '../../http/client.ts';
import { HttpFault } from '../../http/fault.ts';
import { retryAfterMs } from '../../http/retry-after.ts';
import { isJsonObject } from '../../protocol/json.ts';
import { withoutSlash } from '../../protocol/trim.ts';
import { createPace } from '../../runtime/rate.ts';
import type { Store } from '../../store/store.ts';
import { ALL_FAMILIES } from './families.ts';
import { advance, type Feed, isBefore, type Mark, newFeed, nextMark } from './feed.ts';
import { type Broken, brokenText, type RegisterSource, SourceError, type SourcePage } from './source.ts';

export interface CvrSourceOptions {
  /** Without a path; `/cvr-permanent/<index>/_search` is added. */
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
  /** Documents a page, 3,000 at most. */
  readonly pageSize: number;
  readonly requestsPerSecond: number;
  /** Where the first load begins: a day or a time, ISO 8601; from the beginning where absent. */
  readonly since?: string;
  /** How long an index that was read to its end is left alone, in ms; 30 s where absent. */
  readonly pollMs?: number;
  readonly http: Http;
  /** Keeps the pace, for all processes on it. */
  readonly store: Store;
  readonly now: () => number;
}

/** However much more it asks for. */
const LONGEST_WAIT_MS = 3_600_000;
const INDICES = {
  virksomhed: { type: 'Vrvirksomhed', key: 'cvrNummer' },
  produktionsenhed: { type: 'VrproduktionsEnhed', key: 'pNummer' },
} as const;
type Index = keyof typeof INDICES;
type Feeds = Readonly<Record<Index, Feed>>;

/** Opens nothing until a page is asked for. */
export function createCvrSource(options: CvrSourceOptions): RegisterSource {
  const { store, now, pollMs = 30_000 } = options;
  const pace = createPace({
    store,
    key: 'register',
    budgets: { search: { calls: options.requestsPerSecond * 10, perMs: 10_000 } },
    now,
  });
  const since = options.since === undefined ? 0 : Date.parse(options.since);
  if (Number.isNaN(since)) throw new Error(`service.register.since is no day or time: ${options.since}`);
  const authorization = `Basic ${Buffer.from(`${options.username}:${options.password}`).toString('base64')}`;
  /** Halved after an answer that was too large or took too long; grows back little by little. */
  let size = options.pageSize;

  function searchAfter(index: Index, mark: Mark, signal: AbortSignal): Promise<HttpResponse> {
    const { type, key } = INDICES[index];
    const query = {
      size,
      sort: [{ [`${type}.sidstIndlaest`]: 'asc' }, { [`${type}.${key}`]: 'asc' }],
      query: { range: { [`${type}.sidstIndlaest`]: { gte: new Date(mark[0]).toISOString() } } },
      search_after: mark,
    };
    return search(index, query, signal);
  }

  async function search(index: Index, query: object, signal: AbortSignal): Promise<HttpResponse> {
    const url = `${withoutSlash(options.baseUrl)}/cvr-permanent/${index}/_search`;
    const body = JSON.stringify(query);
    await pace.acquire('search', signal);
    const headers = { authorization, 'content-type': 'application/json', accept: 'application/json' };
    try {
      return await options.http({ method: 'POST', url, headers, body, signal });
    } catch (error) {
      if (error instanceof HttpFault && (error.kind === 'too-large' || error.kind === 'timeout'))
        size = Math.max(1, Math.floor(size / 2));
      if (error instanceof HttpFault && error.kind !== 'aborted')
        throw new SourceError(error.message, { cause: error });
      throw error;
    }
  }

  return {
    name: 'cvr',
    families: ALL_FAMILIES,
    async page(cursor, signal): Promise<SourcePage> {
      const feeds = readFeeds(cursor) ?? { virksomhed: newFeed(since), produktionsenhed: newFeed(since) };
      const index = feeds.virksomhed.asked <= feeds.produktionsenhed.asked ? 'virksomhed' : 'produktionsenhed';
      const turn = isDue(feeds[index], now(), pollMs) ? index : other(index);
      const { mark, feed } = nextMark(feeds[turn], now());
      const asked = now();
      const asking = size;
      const hits = readHits(await searchAfter(turn, mark, signal), now());
      if (size === asking) size = Math.min(options.pageSize, size + Math.ceil(size / 16));
      const last = furthest(hits);
      const full = hits.length >= asking;
      if (full && last === undefined) throw new SourceError('the register answered with hits that bear no sort values');
      if (full && last !== undefined && !isBefore(mark, last))
        throw new SourceError('the register answered with the page before: waiting for it to go on');
      const next: Feeds = { ...feeds, [turn]: advance(feed, { last, full, now: asked }) };
      return {
        ...taken(hits),
        cursor: JSON.stringify(next),
        more: Object.values(next).some((one) => isDue(one, now(), pollMs)),
      };
    },
    async find(numbers, signal) {
      const query = { terms: { 'Vrvirksomhed.cvrNummer': numbers } };
      return taken(readHits(await search('virksomhed', { size: numbers.length, query }, signal), now())).documents;
    },
  };
}

const other = (index: Index): Index => (index === 'virksomhed' ? 'produktionsenhed' : 'virksomhed');

/** Amid a walk, or not asked for as long as the polls are apart, give or take. */
const isDue = (feed: Feed, now: number, pollMs: number): boolean => feed.at !== null || now - feed.asked > pollMs * 0.7;

/** The furthest place of a page: its hits need not be in order. */
function furthest(hits: readonly unknown[]): Mark | undefined {
  let last: Mark | undefined;
  for (const hit of hits) {
    const sort = isJsonObject(hit) ? hit['sort'] : undefined;
    const [at, key] = Array.isArray(sort) ? sort : [];
    if (typeof at !== 'number' || (typeof key !== 'string' && typeof key !== 'number')) continue;
    const mark: Mark = [at, String(key)];
    if (last === undefined || isBefore(last, mark)) last = mark;
  }
  return last;
}

function taken(hits: readonly unknown[]): { documents: readonly unknown[]; broken: readonly Broken[] } {
  const documents: unknown[] = [];
  const broken: Broken[] = [];
  for (const hit of hits) {
    const document = isJsonObject(hit) ? hit['_source'] : undefined;
    if (isJsonObject(document)) documents.push(document);
    else broken.push(brokenText(idOf(hit), 'is a hit without a document', JSON.stringify(hit) ?? ''));
  }
  return { documents, broken };
}

const idOf = (hit: unknown): string => (isJsonObject(hit) ? String(hit['_id'] ?? 'a hit') : 'a hit');

/** The hits of a whole answer; anything else is an outage: what it left out must not be taken for nothing. */
function readHits(answer: HttpResponse, now: number): readonly unknown[] {
  const { status, body } = answer;
  if (status === 401 || status === 403) {
    throw new SourceError(
      `the register refused the user name or password (${status}): check service.register.username and password`,
      { retryAfterMs: 60_000 },
    );
  }
  if (status === 429 || status >= 500) {
    const asked = retryAfterMs(answer.headers['retry-after'], now);
    throw new SourceError(`the register answered ${status}${status === 429 ? ': too many requests' : ''}`, {
      ...(asked !== undefined && { retryAfterMs: Math.min(asked, LONGEST_WAIT_MS) }),
    });
  }
  if (status !== 200) {
    throw new SourceError(`the register answered ${status}, check service.register.baseUrl: ${body.slice(0, 300)}`, {
      retryAfterMs: 60_000,
    });
  }
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    throw new SourceError('the register answered with JSON that is cut or broken', { cause: error });
  }
  const { hits, timed_out, _shards: shards } = isJsonObject(json) ? json : {};
  if (timed_out === true) throw new SourceError('the register ran out of time and answered with a part');
  if (isJsonObject(shards) && typeof shards['failed'] === 'number' && shards['failed'] > 0)
    throw new SourceError('a part of the register did not answer');
  if (!isJsonObject(hits) || !Array.isArray(hits['hits']))
    throw new SourceError('the register answered with something that is no search result');
  return hits['hits'];
}

function readFeeds(cursor: string | undefined): Feeds | undefined {
  try {
    const json: unknown = JSON.parse(cursor ?? '');
    if (!isJsonObject(json)) return undefined;
    const { virksomhed, produktionsenhed } = json;
    return isFeed(virksomhed) && isFeed(produktionsenhed) ? { virksomhed, produktionsenhed } : undefined;
  } catch {
    return undefined;
  }
}

const isMark = (value: unknown): value is Mark =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'number' && typeof value[1] === 'string';

const isFeed = (value: unknown): value is Feed =>
  isJsonObject(value) &&
  isMark(value['seen']) &&
  (value['at'] === null || isMark(value['at'])) &&
  typeof value['near'] === 'boolean' &&
  typeof value['asked'] === 'number' &&
  typeof value['swept'] === 'number';
