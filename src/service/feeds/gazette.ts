/**
 * Watches the gazette's public site for bankruptcy notices (queue `watch`, key `gazette`). Searches only for kinds
 * about bankruptcies, and stores nothing of a notice that names no company.
 */
import { HttpFault } from '../../http/outbound/fault.ts';
import { isJsonObject } from '../../protocol/text/json.ts';
import { withoutSlash } from '../../protocol/text/trim.ts';
import type { Claim } from '../../runtime/lanes/lanes.ts';
import { createInputReader } from '../../runtime/lanes/poison.ts';
import { createRateLimiter, type RateLimiter } from '../../runtime/limits/rate-limiter.ts';
import type { Store, Tx } from '../../store/store.ts';
import type { NewsSettings } from '../news/wording/make.ts';
import { todayAt } from '../register/document/today.ts';
import { SourceError } from '../register/source/source.ts';
import { readNames } from '../register/watch/snapshots.ts';
import {
  changesOf,
  type FoundNotice,
  type GazetteNoticeKind,
  isOfPerson,
  NOTICE_KINDS,
  readDocument,
  readFound,
} from './gazette-notice.ts';
import { type NoticeDeps, readState, refuse, writeState } from './poll.ts';

export const GAZETTE_KEY = 'gazette';

export interface GazetteSettings extends Pick<NewsSettings, 'gazetteProvider'> {
  readonly baseUrl: string;
  readonly pollSeconds: number;
  readonly callsPerSecond?: number;
}

export type GazetteDeps = NoticeDeps<GazetteSettings>;

const KEPT = 'news gazette';
/** Days that each poll reads again, because notices appear late. */
const OVERLAP_DAYS = 3;
const PAGE_SIZE = 100;
/** More pages mean a wrong answer. */
const MOST_PAGES = 200;
const MAX_BYTES = 4 * 1024 * 1024;
const DAY_MS = 24 * 3_600_000;

interface Cursor {
  readonly from: string;
  /** Numbers of finished notices of `from` and later, with their days. */
  readonly seen: Readonly<Record<string, string>>;
}

/**
 * Reads the notices since the last poll; the first poll reads those of today. Each notice is one transaction with its
 * change and the cursor. Later polls retry an unreadable notice as long as they read its day. Throws {@link
 * SourceError} if the gazette cannot be read.
 */
export async function pollGazette(
  deps: GazetteDeps,
  signal: AbortSignal,
  claims: readonly Claim[] = [],
): Promise<void> {
  const { store, now, log, settings } = deps;
  const retry = (tx: Tx, numbers: readonly string[]) => forgetSeen(tx, numbers, now());
  const inputs = await createInputReader({ store, now, log, claims, source: GAZETTE_KEY, retry });
  const { callsPerSecond = 1 } = settings;
  const rateLimiter = createRateLimiter({
    store,
    key: 'gazette',
    budgets: { calls: { calls: callsPerSecond * 10, perMs: 10_000 } },
    now,
  });
  const get = (path: string) => getJson(deps, rateLimiter, path, signal);
  const today = todayAt(now());
  let cursor = (await readCursor(deps)) ?? { from: today, seen: {} };
  for (const kind of kinds) {
    for (const found of await search(get, kind, cursor.from, today)) {
      if (cursor.seen[found.number] !== undefined) continue;
      const next = { ...cursor, seen: { ...cursor.seen, [found.number]: found.day } };
      let isDone = true;
      const readNotice = async () => {
        isDone = await publishNotice(deps, get, { kind, found, next });
      };
      // A quarantined notice counts as finished until a person retries it.
      if (!(await inputs.read(found.number, readNotice))) await store.write((tx) => writeState(tx, KEPT, next, now()));
      if (isDone) cursor = next;
    }
  }
  const from = earlier(today, cursor.from);
  const seen = Object.fromEntries(Object.entries(cursor.seen).filter(([, day]) => day >= from));
  await store.write((tx) => writeState(tx, KEPT, { from, seen } satisfies Cursor, now()));
}

const kinds: readonly GazetteNoticeKind[] = Object.keys(NOTICE_KINDS).filter(
  (key): key is GazetteNoticeKind => key in NOTICE_KINDS,
);

/** Never before the first poll's day. */
function earlier(today: string, from: string): string {
  const back = new Date(Date.parse(today) - OVERLAP_DAYS * DAY_MS).toISOString().slice(0, 10);
  return back > from ? back : from;
}

type Get = (path: string) => Promise<unknown>;

async function search(get: Get, kind: GazetteNoticeKind, from: string, to: string): Promise<readonly FoundNotice[]> {
  const all: FoundNotice[] = [];
  for (let page = 0, pages = 1; page < pages; page++) {
    const query = new URLSearchParams({
      m: kind.replaceAll('-', ''),
      s: '8',
      fromDate: from,
      toDate: to,
      page: String(page),
      ps: String(PAGE_SIZE),
    });
    const json = await get(`/api/messagesearch?${query}`);
    const { results, pageCount } = isJsonObject(json) ? json : {};
    if (!Array.isArray(results)) throw new SourceError('the gazette answered with something that is no search result');
    all.push(...results.flatMap((line: unknown) => readFound(line) ?? []));
    pages = results.length === 0 ? 0 : Math.min(MOST_PAGES, typeof pageCount === 'number' ? pageCount : 1);
  }
  return all;
}

interface DueNotice {
  readonly kind: GazetteNoticeKind;
  readonly found: FoundNotice;
  readonly next: Cursor;
}

/** Fetches and publishes one notice; false if the next poll must retry it. */
async function publishNotice(deps: GazetteDeps, get: Get, { kind, found, next }: DueNotice): Promise<boolean> {
  const { store, now, settings, log, metrics } = deps;
  const count = (result: string) => metrics?.articles.inc({ source: GAZETTE_KEY, result });
  if (isOfPerson(found)) {
    count('no company');
    await store.write((tx) => writeState(tx, KEPT, next, now()));
    return true;
  }
  const groups = readDocument(await get(`/api/message/${found.number}`));
  if (groups === undefined) {
    count('unreadable');
    log.warn({ notice: found.number }, 'a notice of the gazette cannot be read: passing it over until the next poll');
    return false;
  }
  const { baseUrl, gazetteProvider: source } = settings;
  const published = changesOf(found, groups, { kind, baseUrl, source });
  const names = await readNames(
    store.db,
    published.map(({ entity }) => entity),
  );
  const changes = published.map((change) => ({ ...change, name: names.get(change.entity) ?? change.name }));
  await store.write(async (tx) => {
    await deps.publish(tx, changes);
    await writeState(tx, KEPT, next, now());
  });
  count(changes.length === 0 ? 'no company' : 'told');
  if (changes.length > 0) deps.ring();
  return true;
}

/** Undefined for a missing page or one that is not JSON: one notice must not end the poll. */
async function getJson(
  deps: GazetteDeps,
  rateLimiter: RateLimiter,
  path: string,
  signal: AbortSignal,
): Promise<unknown> {
  await rateLimiter.acquire('calls', signal);
  const url = `${withoutSlash(deps.settings.baseUrl)}${path}`;
  const answer = await deps
    .http({ method: 'GET', url, headers: { accept: 'application/json' }, maxBytes: MAX_BYTES, signal })
    .catch((error: unknown) => {
      if (error instanceof HttpFault && error.kind !== 'aborted')
        throw new SourceError(error.message, { cause: error });
      throw error;
    });
  if (answer.status === 404 || answer.status === 410) return undefined;
  if (answer.status !== 200) refuse(answer, 'the gazette', deps.now());
  try {
    return JSON.parse(answer.body);
  } catch {
    return undefined;
  }
}

/** Makes the next poll read these notices again, if it still reads their day. */
async function forgetSeen(tx: Tx, numbers: readonly string[], now: number): Promise<void> {
  const cursor = await readCursor({ store: { db: tx } });
  if (cursor === undefined) return;
  const seen = Object.fromEntries(Object.entries(cursor.seen).filter(([number]) => !numbers.includes(number)));
  await writeState(tx, KEPT, { ...cursor, seen } satisfies Cursor, now);
}

async function readCursor({ store }: { readonly store: Pick<Store, 'db'> }): Promise<Cursor | undefined> {
  // Only this file writes it.
  return (await readState(store.db, KEPT)) as Cursor | undefined;
}
