/**
 * Watches feeds of press releases (queue `watch`, key `press`). An item is about the company that its feed is
 * configured for, or about its publisher; cvrsync does not guess names.
 */
import type { OutboundResponse } from '../../http/outbound/client.ts';
import { HttpFault } from '../../http/outbound/fault.ts';
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { backoff } from '../../runtime/backoff.ts';
import type { Claim } from '../../runtime/lanes/lanes.ts';
import { createInputReader, type InputReader } from '../../runtime/lanes/poison.ts';
import { createRateLimiter } from '../../runtime/limits/rate-limiter.ts';
import type { Tx } from '../../store/store.ts';
import type { Change } from '../changes/change.ts';
import { cleanHtml } from '../news/wording/clean-html.ts';
import type { NewsSettings } from '../news/wording/make.ts';
import { isWebAddress } from '../news/wording/phrase.ts';
import { SourceError } from '../register/source/source.ts';
import { readNames } from '../register/watch/snapshots.ts';
import { DocumentError } from '../reports/document/facts.ts';
import { type FeedItem, readFeed } from './feed.ts';
import { withoutPersonalNumbers } from './personal-numbers.ts';
import { plainHtml } from './plain-html.ts';
import { type NoticeDeps, readState, refuse, writeState } from './poll.ts';
import { type IdentifiedItem, identify } from './press-identity.ts';
import { digest, type FeedState, forgetSeen, keyOf, seenKeys, withSeen } from './press-state.ts';

export const PRESS_KEY = 'press';

export interface PressFeed {
  readonly url: string;
  readonly entityId?: string;
  /** Publisher id (from addresses of items or of the feed) to company. */
  readonly publishers: Readonly<Record<string, string>>;
}

export interface PressSettings extends Pick<NewsSettings, 'pressProvider'> {
  readonly feeds: readonly PressFeed[];
  readonly pollSeconds: number;
  readonly callsPerSecond?: number;
}

export type PressDeps = NoticeDeps<PressSettings>;

const MAX_BYTES = 4 * 1024 * 1024;
const DAY_MS = 24 * 3_600_000;
const LONGEST_TAGLINE = 300;
const RETRY = { baseMs: 60_000, capMs: 6 * 3_600_000 };

/** Reads every feed that is due. A failing feed is postponed alone, up to six hours at a time. */
export async function pollPress(deps: PressDeps, signal: AbortSignal, claims: readonly Claim[] = []): Promise<void> {
  const { store, now, settings, log } = deps;
  const { callsPerSecond = 1 } = settings;
  const rateLimiter = createRateLimiter({
    store,
    key: 'press',
    budgets: { calls: { calls: callsPerSecond * 10, perMs: 10_000 } },
    now,
  });
  const retry = (tx: Tx, names: readonly string[]) => forgetSeen(tx, names, now());
  const inputs = await createInputReader({ store, now, log, claims, source: PRESS_KEY, retry });
  for (const feed of settings.feeds) {
    const key = keyOf(digest(feed.url));
    const first: FeedState = { since: now() - DAY_MS, wasRead: false, seen: [], failures: 0, notBefore: 0 };
    // Only this file writes it.
    const state = ((await readState(store.db, key)) as FeedState | undefined) ?? first;
    if (state.notBefore > now()) continue;
    await rateLimiter.acquire('calls', signal);
    try {
      await pollFeed(deps, { feed, state, key, inputs }, signal);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      const failures = state.failures + 1;
      const wait = Math.max(error.retryAfterMs ?? 0, backoff(failures, RETRY));
      log.warn({ err: error, feed: named(feed), inMs: wait }, 'a feed cannot be read: trying again');
      deps.metrics?.articles.inc({ source: PRESS_KEY, result: 'feed failed' });
      const next: FeedState = { ...state, failures, notBefore: now() + wait };
      await store.write((tx) => writeState(tx, key, next, now()));
    }
  }
}

interface FeedPoll {
  readonly feed: PressFeed;
  readonly state: FeedState;
  readonly key: string;
  readonly inputs: InputReader;
}

/** Reads one feed. Its new items and its state are one transaction. */
async function pollFeed(deps: PressDeps, poll: FeedPoll, signal: AbortSignal): Promise<void> {
  const { store, now } = deps;
  const { feed, state, key, inputs } = poll;
  const answer = await ask(deps, feed, state, signal);
  let items: readonly IdentifiedItem[] = [];
  if (answer.status !== 304)
    await inputs.read(inputOf(feed, `whole-${digest(answer.bytes ?? '')}`), async () => {
      items = identify(await itemsOf(answer, feed, signal));
    });
  const seen = seenKeys(state.seen);
  const fresh = items.filter(({ keys }) => !keys.some((key) => seen.has(key)));
  const changes = await changesOf(deps, feed, await readableOf(deps, poll, fresh), state);
  const { etag, 'last-modified': lastModified } = answer.headers;
  const isNew = answer.status !== 304;
  const next: FeedState = {
    since: state.since,
    wasRead: true,
    seen: withSeen(state.seen, items),
    failures: 0,
    notBefore: 0,
    ...(isNew ? etag !== undefined && { etag } : state.etag !== undefined && { etag: state.etag }),
    ...(isNew
      ? lastModified !== undefined && { lastModified }
      : state.lastModified !== undefined && { lastModified: state.lastModified }),
  };
  await store.write(async (tx) => {
    await deps.publish(tx, changes);
    await writeState(tx, key, next, now());
  });
  if (changes.length > 0) deps.ring();
}

/** The items to publish together. If the last run crashed, publishes each alone and returns none. */
async function readableOf(
  deps: PressDeps,
  { feed, state, key, inputs }: FeedPoll,
  fresh: readonly IdentifiedItem[],
): Promise<readonly IdentifiedItem[]> {
  const { store, now } = deps;
  const together: IdentifiedItem[] = [];
  let { seen } = state;
  for (const item of fresh)
    await inputs.read(inputOf(feed, item.id), async () => {
      if (!inputs.isSuspicious) {
        together.push(item);
        return;
      }
      const changes = await changesOf(deps, feed, [item], state);
      seen = withSeen(seen, [item]);
      await store.write(async (tx) => {
        await deps.publish(tx, changes);
        await writeState(tx, key, { ...state, seen } satisfies FeedState, now());
      });
      if (changes.length > 0) deps.ring();
    });
  return together;
}

const inputOf = ({ url }: PressFeed, name: string): string => `${digest(url)} ${name}`;

async function ask(
  { http, now }: PressDeps,
  feed: PressFeed,
  state: FeedState,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const headers = {
    accept: 'application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.8',
    ...(state.etag !== undefined && { 'if-none-match': state.etag }),
    ...(state.lastModified !== undefined && { 'if-modified-since': state.lastModified }),
  };
  try {
    const answer = await http({ method: 'GET', url: feed.url, headers, maxBytes: MAX_BYTES, wantBytes: true, signal });
    if (answer.status !== 200 && answer.status !== 304) refuse(answer, named(feed), now());
    return answer;
  } catch (error) {
    if (error instanceof HttpFault && error.kind !== 'aborted') throw new SourceError(error.message, { cause: error });
    throw error;
  }
}

async function itemsOf(
  { bytes, headers }: OutboundResponse,
  feed: PressFeed,
  signal: AbortSignal,
): Promise<readonly FeedItem[]> {
  try {
    const document = { bytes: bytes ?? Buffer.alloc(0), url: feed.url, contentType: headers['content-type'] };
    return await readFeed(document, signal);
  } catch (error) {
    if (error instanceof DocumentError) throw new SourceError(`${named(feed)} ${error.message}`, { cause: error });
    throw error;
  }
}

interface Headlined extends IdentifiedItem {
  readonly entity: string;
  readonly time: number;
  readonly headline: string;
}

/** An item with its company, time and headline, or the reason why it becomes no article. */
function headlinedOf(
  identified: IdentifiedItem,
  feed: PressFeed,
  { since, wasRead }: FeedState,
  now: number,
): Headlined | 'unmatched' | 'unreadable' | 'old' {
  const { item } = identified;
  const entity = entityOf(feed, item);
  if (entity === undefined) return 'unmatched';
  // Remove personal numbers before cutting: half a number would not match.
  const headline = cut(safe(item.title) || safe(item.summary), LONGEST_TAGLINE);
  if (headline === '') return 'unreadable';
  // An item without a time is new in a feed that was read before; in a new feed it may be old.
  const time = Math.min(item.published ?? (wasRead ? now : 0), now);
  return time < since ? 'old' : { ...identified, entity, time, headline };
}

async function changesOf(
  deps: PressDeps,
  feed: PressFeed,
  items: readonly IdentifiedItem[],
  state: FeedState,
): Promise<readonly Change[]> {
  const found = items.flatMap((item) => {
    const headlined = headlinedOf(item, feed, state, deps.now());
    const isFound = typeof headlined !== 'string';
    deps.metrics?.articles.inc({ source: PRESS_KEY, result: isFound ? 'told' : headlined });
    return isFound ? [headlined] : [];
  });
  const names = await readNames(
    deps.store.db,
    found.map(({ entity }) => entity),
  );
  return found
    .sort((a, b) => a.time - b.time)
    .map(({ item, id, entity, time, headline }) => ({
      id: `press ${id} ${entity}`,
      entity,
      name: names.get(entity) ?? entity,
      kind: 'article',
      timestamp: new Date(time).toISOString(),
      updates: {
        newArticle: {
          source: deps.settings.pressProvider,
          headline,
          tagline: cut(safe(item.summary), LONGEST_TAGLINE) || null,
          content: withoutPersonalNumbers(cleanHtml(item.content || item.summary)) || null,
          time: new Date(time).toISOString(),
          link: isWebAddress(item.link) ? item.link : null,
        },
      },
    }));
}

/** The company of an item: the feed's, else that of the publisher in the addresses of the item or the feed. */
function entityOf(feed: PressFeed, { link, guid }: FeedItem): string | undefined {
  if (feed.entityId !== undefined) return canonicalEntityId(feed.entityId);
  for (const address of [link, guid, feed.url]) {
    const publisher = publishersIn(address).find((part) => Object.hasOwn(feed.publishers, part));
    if (publisher !== undefined) return canonicalEntityId(feed.publishers[publisher] ?? '');
  }
  return undefined;
}

/** Values of an address's query and parts of its path: one may be the publisher's id. */
function publishersIn(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { searchParams, pathname } = new URL(address);
  return [...searchParams.values(), ...pathname.split('/').filter(Boolean)];
}

const safe = (html: string): string => withoutPersonalNumbers(plainHtml(html));

/** Without the query, which may hold a key. */
const named = ({ url }: PressFeed): string =>
  URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : 'the feed';

const cut = (text: string, longest: number): string =>
  text.length <= longest
    ? text
    : `${text
        .slice(0, longest - 1)
        .toWellFormed()
        .trimEnd()}…`;
