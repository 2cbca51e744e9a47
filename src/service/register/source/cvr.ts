/**
 * A source that reads the register's own distribution (Elasticsearch 6 over HTTP). It follows `sidstIndlaest`, which
 * moves with everything in a document; `sidstOpdateret` does not (https://datacvr.virk.dk, system-til-system).
 * Companies and production units are two indices, which it reads in turn.
 */
import type { OutboundHttp } from '../../../http/outbound/client.ts';
import { HttpFault } from '../../../http/outbound/fault.ts';
import { isJsonObject } from '../../../protocol/text/json.ts';
import { backoff } from '../../../runtime/backoff.ts';
import { createRateLimiter } from '../../../runtime/limits/rate-limiter.ts';
import type { Store } from '../../../store/store.ts';
import { ALL_FAMILIES } from '../document/families.ts';
import { createSearch, LARGEST, type RegisterSearch } from './cvr-search.ts';
import { advance, type FeedPosition, type FeedProgress, isBefore, newFeed, nextMark, startFrom } from './feed.ts';
import type { AnswerHit } from './hits.ts';
import {
  brokenText,
  type RegisterSource,
  SourceError,
  type SourcePage,
  type SourcePart,
  type UnreadableDocument,
} from './source.ts';

export interface CvrSourceOptions {
  /** Without a path; the source adds `/cvr-permanent/<index>/_search`. */
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
  readonly pageSize: number;
  readonly requestsPerSecond: number;
  /** Where the first load begins, a day or a time in ISO 8601; from the beginning by default. */
  readonly since?: string;
  /** The most bytes of one document; 256 MiB by default. The source quarantines a larger one by its number. */
  readonly largestBytes?: number;
  /** Ms between two reads of an index that has nothing more; 30 s by default. */
  readonly pollMs?: number;
  readonly http: OutboundHttp;
  /** Holds the rate limit that all processes share. */
  readonly store: Store;
  readonly now: () => number;
}

const MOST_BACKOFF_MS = 5 * 60_000;
const INDICES = {
  virksomhed: { type: 'Vrvirksomhed', key: 'cvrNummer' },
  produktionsenhed: { type: 'VrproduktionsEnhed', key: 'pNummer' },
} as const;
type Index = keyof typeof INDICES;
type Feeds = Readonly<Record<Index, FeedProgress>>;

/** Connects at the first page. */
export function createCvrSource(options: CvrSourceOptions): RegisterSource {
  const { store, now, pollMs = 30_000 } = options;
  const rateLimiter = createRateLimiter({
    store,
    key: 'register',
    budgets: { search: { calls: options.requestsPerSecond * 10, perMs: 10_000 } },
    now,
  });
  const since = options.since === undefined ? 0 : Date.parse(options.since);
  if (Number.isNaN(since)) throw new Error(`service.register.since is no day or time: ${options.since}`);
  const { search, count } = createSearch(options, rateLimiter);
  const troubles = createTroubles(now);
  const isDueNow = (feed: FeedProgress): boolean => isDue(feed, now(), pollMs);
  const pages = createPageReader(createHitReader(search, options), { troubles, now, isDueNow });

  return {
    name: 'cvr',
    origin: 'cvr',
    families: ALL_FAMILIES,
    async page(cursor, signal): Promise<SourcePage> {
      const feeds = readFeeds(cursor) ?? { virksomhed: newFeed(since), produktionsenhed: newFeed(since) };
      const turns = turnsOf(feeds);
      const free = turns.filter((index) => !troubles.has(index));
      const due = free.find((index) => isDueNow(feeds[index]));
      const sweeping = due === undefined ? free.find((index) => feeds[index].sweep !== undefined) : undefined;
      const turn = due ?? sweeping ?? free[0] ?? turns[0];
      const place = sweeping === undefined ? undefined : feeds[sweeping].sweep;
      try {
        return await (place === undefined ? pages.walk(feeds, turn, signal) : pages.sweep(feeds, turn, place, signal));
      } catch (error) {
        if (error instanceof SourceError) troubles.add(turn, error);
        throw error;
      }
    },
    find: async (numbers, signal) => ({ documents: await findCompanies(search, numbers, signal) }),
    async count(signal) {
      const of = (index: Index) => count(index, { query: loadedFrom(index, since) }, signal);
      return { companies: await of('virksomhed'), 'production units': await of('produktionsenhed') };
    },
    sweep(cursor) {
      const feeds = readFeeds(cursor);
      if (feeds === undefined) return cursor;
      const { virksomhed, produktionsenhed } = feeds;
      const sweep = startFrom(since);
      return JSON.stringify({ virksomhed: { ...virksomhed, sweep }, produktionsenhed: { ...produktionsenhed, sweep } });
    },
    parts(cursor) {
      const feeds = readFeeds(cursor);
      return feeds === undefined
        ? {}
        : { companies: partOf(feeds.virksomhed), 'production units': partOf(feeds.produktionsenhed) };
    },
  };
}

function createPageReader(
  hitsAfter: ReturnType<typeof createHitReader>,
  how: {
    readonly troubles: ReturnType<typeof createTroubles>;
    readonly now: () => number;
    readonly isDueNow: (feed: FeedProgress) => boolean;
  },
) {
  const { troubles, now, isDueNow } = how;

  async function walk(feeds: Feeds, turn: Index, signal: AbortSignal): Promise<SourcePage> {
    const { mark, feed } = nextMark(feeds[turn], now());
    const asked = now();
    const { hits, last, full, reason } = await hitsBehind(turn, mark, signal);
    const next: Feeds = { ...feeds, [turn]: advance(feed, { last, full, now: asked }) };
    return pageOf(next, documentsOf(hits, reason));
  }

  /** A page of a sweep, which continues if no walk is due. */
  async function sweep(feeds: Feeds, turn: Index, mark: FeedPosition, signal: AbortSignal): Promise<SourcePage> {
    const { hits, last, full, reason } = await hitsBehind(turn, mark, signal);
    const { sweep: _, ...feed } = feeds[turn];
    const next: Feeds = { ...feeds, [turn]: full && last !== undefined ? { ...feed, sweep: last } : feed };
    return pageOf(next, documentsOf(hits, reason));
  }

  async function hitsBehind(turn: Index, mark: FeedPosition, signal: AbortSignal) {
    const found = await hitsAfter(turn, mark, signal);
    const last = furthest(found.hits);
    if (found.full && last === undefined)
      throw new SourceError('the register answered with hits that bear no sort values');
    if (found.full && last !== undefined && !isBefore(mark, last))
      throw new SourceError('the register answered with the page before: waiting for it to go on');
    troubles.clear(turn);
    return { ...found, last };
  }

  function pageOf(next: Feeds, found: ReturnType<typeof documentsOf>): SourcePage {
    const free = turnsOf(next).filter((index) => !troubles.has(index));
    const more = free.some((index) => isDueNow(next[index]) || next[index].sweep !== undefined);
    const page = { ...found, cursor: JSON.stringify(next), more };
    const trouble = troubles.message();
    return trouble === undefined ? page : { ...page, trouble };
  }

  return { walk, sweep };
}

interface Hits {
  readonly hits: readonly AnswerHit[];
  readonly full: boolean;
  readonly reason?: string;
}

/** Reads the hits after a position, as many as the register can answer at once. */
function createHitReader(search: RegisterSearch, { pageSize, largestBytes = LARGEST }: CvrSourceOptions) {
  /** Halved after an answer that was too large or slow; then grows slowly. */
  let size = pageSize;

  return async function hitsAfter(index: Index, mark: FeedPosition, signal: AbortSignal): Promise<Hits> {
    const asking = size;
    try {
      const hits = await search(index, queryAfter(index, mark, { size: asking }), signal, { large: asking === 1 });
      if (size === asking) size = Math.min(pageSize, size + Math.ceil(size / 16));
      return { hits, full: hits.length >= asking };
    } catch (error) {
      const kind = faultIn(error)?.kind;
      if (kind === 'too-large' || kind === 'timeout') size = Math.max(1, Math.floor(asking / 2));
      if (kind !== 'too-large') throw error;
      if (asking > 1) return hitsAfter(index, mark, signal);
    }
    // One document exceeds the limit of an answer: ask only for its number and position.
    const hits = await search(index, queryAfter(index, mark, { size: 1, _source: false }), signal);
    return { hits, full: hits.length > 0, reason: `is larger than ${largestBytes} bytes: it was passed over` };
  };
}

const loadedFrom = (index: Index, at: number): object => ({
  range: { [`${INDICES[index].type}.sidstIndlaest`]: { gte: new Date(at).toISOString() } },
});

function queryAfter(index: Index, mark: FeedPosition, extra: object): object {
  const { type, key } = INDICES[index];
  return {
    sort: [{ [`${type}.sidstIndlaest`]: 'asc' }, { [`${type}.${key}`]: 'asc' }],
    query: loadedFrom(index, mark[0]),
    search_after: mark,
    ...extra,
  };
}

/**
 * The documents of companies by number. Splits a request whose answer is too large; leaves out a company that is too
 * large alone.
 */
async function findCompanies(
  search: RegisterSearch,
  numbers: readonly string[],
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const query = { size: numbers.length, query: { terms: { 'Vrvirksomhed.cvrNummer': numbers } } };
  try {
    return [...documentsOf(await search('virksomhed', query, signal, { large: numbers.length === 1 })).documents];
  } catch (error) {
    if (faultIn(error)?.kind !== 'too-large') throw error;
  }
  if (numbers.length === 1) return [];
  const half = Math.ceil(numbers.length / 2);
  return [
    ...(await findCompanies(search, numbers.slice(0, half), signal)),
    ...(await findCompanies(search, numbers.slice(half), signal)),
  ];
}

/** The indices that cannot be read now, each with its back-off; meanwhile the source reads only the other one. */
function createTroubles(now: () => number) {
  const troubles = new Map<Index, { readonly attempts: number; readonly until: number; readonly message: string }>();
  return {
    has: (index: Index): boolean => (troubles.get(index)?.until ?? 0) > now(),
    add(index: Index, error: SourceError): void {
      const attempts = (troubles.get(index)?.attempts ?? 0) + 1;
      const wait = Math.max(error.retryAfterMs ?? 0, backoff(attempts, { capMs: MOST_BACKOFF_MS }));
      troubles.set(index, { attempts, until: now() + wait, message: `${index}: ${error.message}` });
    },
    clear: (index: Index) => troubles.delete(index),
    message: (): string | undefined => [...troubles.values()][0]?.message,
  };
}

const faultIn = (error: unknown): HttpFault | undefined =>
  error instanceof SourceError && error.cause instanceof HttpFault ? error.cause : undefined;

/** The indices, the longest unread first. */
const turnsOf = ({ virksomhed, produktionsenhed }: Feeds): readonly [Index, Index] =>
  virksomhed.asked <= produktionsenhed.asked ? ['virksomhed', 'produktionsenhed'] : ['produktionsenhed', 'virksomhed'];

/** Whether the index was not read to its end, or not asked for about the time of a poll. */
const isDue = (feed: FeedProgress, now: number, pollMs: number): boolean =>
  feed.at !== null || now - feed.asked > pollMs * 0.7;

/** The furthest position of a page, whose hits need not be in order. */
function furthest(hits: readonly AnswerHit[]): FeedPosition | undefined {
  let last: FeedPosition | undefined;
  for (const { head } of hits) {
    const sort = isJsonObject(head) ? head['sort'] : undefined;
    const [at, key] = Array.isArray(sort) ? sort : [];
    if (typeof at !== 'number' || (typeof key !== 'string' && typeof key !== 'number')) continue;
    const mark: FeedPosition = [at, String(key)];
    if (last === undefined || isBefore(last, mark)) last = mark;
  }
  return last;
}

function documentsOf(
  hits: readonly AnswerHit[],
  reason = 'is a hit without a document',
): { documents: Iterable<unknown>; broken: readonly UnreadableDocument[] } {
  const read = hits.filter(({ hasDocument }) => hasDocument);
  const broken = hits
    .filter(({ hasDocument }) => !hasDocument)
    .map(({ head }) => brokenText(idOf(head), reason, JSON.stringify(head) ?? ''));
  return { documents: eachOf(read), broken };
}

const eachOf = (hits: readonly AnswerHit[]): Iterable<unknown> => ({
  *[Symbol.iterator]() {
    for (const { document } of hits) yield document();
  },
});

const idOf = (hit: unknown): string => (isJsonObject(hit) ? String(hit['_id'] ?? 'a hit') : 'a hit');

const partOf = ({ asked, seen, at, sweep }: FeedProgress): SourcePart => ({
  readAt: asked,
  loadedUntil: seen[0],
  more: at !== null || sweep !== undefined,
  ...(at !== null && { walkedTo: at[0] }),
});

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

const isMark = (value: unknown): value is FeedPosition =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'number' && typeof value[1] === 'string';

const isFeed = (value: unknown): value is FeedProgress =>
  isJsonObject(value) &&
  isMark(value['seen']) &&
  (value['at'] === null || isMark(value['at'])) &&
  typeof value['near'] === 'boolean' &&
  typeof value['asked'] === 'number' &&
  typeof value['swept'] === 'number';
