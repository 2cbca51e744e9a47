/** The client of the monitoring service. Its answers become values that say what happens next. */
import { ProviderError } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { OutboundHttp, OutboundResponse } from '../../http/outbound/client.ts';
import { HttpFault } from '../../http/outbound/fault.ts';
import { retryAfterMs } from '../../http/outbound/retry-after.ts';
import {
  addItemQuery,
  itemsPath,
  JOBS_PATH,
  jobItemsPath,
  type ListRead,
  pageQuery,
  readErrorMessage,
  readItems,
  readJobs,
  removeItemQuery,
  type WireItem,
  type WireJob,
} from '../../protocol/api.ts';
import { cutText } from '../../protocol/text/cut.ts';
import { readJson } from '../../protocol/text/json.ts';
import { maskerOf } from '../../protocol/text/mask.ts';
import { backoff } from '../../runtime/backoff.ts';
import type { BlockFault } from '../../runtime/limits/blocks.ts';
import { pause } from '../../runtime/limits/pause.ts';
import { createRateLimiter, type RateLimiter } from '../../runtime/limits/rate-limiter.ts';
import type { Store } from '../../store/store.ts';
import type { WaitReport } from '../crm/patience.ts';
import { currentSendContext } from '../crm/send-guard.ts';
import { type ListCeiling, watchPages } from './list-end.ts';

export type MonitoredItem = Pick<WireItem, 'entityId' | 'id'>;

/** Why a call failed. `rate` and `auth` pause the account for every process. */
export type UpstreamFault =
  /** The service refused: the same call would fail again. */
  | { readonly kind: 'refused'; readonly status: number; readonly message: string }
  | { readonly kind: 'rate'; readonly retryAfterMs: number; readonly message: string }
  | { readonly kind: 'auth'; readonly retryAfterMs: number; readonly message: string }
  /** No usable answer: the call may have succeeded. */
  | { readonly kind: 'unavailable'; readonly message: string };

export type UpstreamResult = { readonly kind: 'done' } | UpstreamFault;

/** `fault` says what happens next. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly fault: UpstreamFault['kind'];

  constructor(fault: UpstreamFault['kind'], message: string) {
    super(message);
    this.fault = fault;
  }
}

export interface Upstream {
  /** Idempotent. Rejects only if the signal aborts. */
  add(item: MonitoredItem, sendUpdate: boolean, provider: string, signal: AbortSignal): Promise<UpstreamResult>;
  /** Succeeds for a missing item. */
  remove(item: MonitoredItem, provider: string, signal: AbortSignal): Promise<UpstreamResult>;
  jobs(signal: AbortSignal): Promise<readonly WireJob[]>;
  /** Throws {@link UpstreamError}, also if the pages do not end. */
  items(jobId: string, signal: AbortSignal): AsyncGenerator<WireItem, void, undefined>;
}

export interface UpstreamOptions {
  readonly baseUrl: string;
  readonly accessKey: string;
  readonly keyHeader?: string;
  readonly http: OutboundHttp;
  readonly rateLimiter: RateLimiter;
  readonly metrics?: Pick<Metrics, 'upstreamCalls'>;
  readonly now?: () => number;
  readonly waiting?: WaitReport;
  readonly take?: number;
  readonly ceiling?: ListCeiling;
}

const BUDGET = 'default';
const PAUSE_MS = 60_000;
const LEAST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 24 * 3_600_000;
const TRIES = 3;
const LONGEST_WAIT_MS = 2 * 60_000;
const LONGEST_MESSAGE = 300;

/** The service's account in the store; no connection can have this name. */
export const UPSTREAM_ACCOUNT = '@upstream';

/** The rate limit of the service's key, shared by all processes on the store. */
export function upstreamRateLimiter(store: Store, requestsPerMinute: number, now: () => number): RateLimiter {
  const budgets = { [BUDGET]: { calls: requestsPerMinute, perMs: 60_000 } };
  return createRateLimiter({ store, key: UPSTREAM_ACCOUNT, budgets, now });
}

type Answer = { readonly kind: 'done'; readonly json: unknown } | UpstreamFault;
type Query = Readonly<Record<string, string>>;
type Call = (method: 'GET' | 'POST' | 'DELETE', path: string, query: Query, signal: AbortSignal) => Promise<Answer>;

/** Makes no call yet. No message contains the access key. */
export function openUpstream(options: UpstreamOptions): Upstream {
  const { baseUrl, take = 500, ceiling } = options;
  const { origin, pathname } = new URL(baseUrl);
  /** For messages: without the credentials that a URL may hold. */
  const address = `${origin}${pathname === '/' ? '' : pathname}`;
  const call = openCalls(options, address);
  const list = openLists(call, address, options);
  return {
    add: async (item, sendUpdate, provider, signal) =>
      resultOf(await call('POST', itemsPath(provider), addItemQuery(item, sendUpdate), signal)),
    remove: async (item, provider, signal) => {
      const answer = await call('DELETE', itemsPath(provider), removeItemQuery(item), signal);
      return answer.kind === 'refused' && answer.status === 404 ? { kind: 'done' } : resultOf(answer);
    },
    jobs: async (signal) => (await list(JOBS_PATH, {}, readJobs, signal)).entries,
    async *items(jobId, signal) {
      const fail = (reason: string) => new UpstreamError('refused', `the items of job ${jobId} do not end: ${reason}`);
      const tokenAfter = watchPages(take, fail, ceiling);
      let token: string | undefined;
      do {
        const page = await list(jobItemsPath(jobId), pageQuery(take, token), readItems, signal);
        yield* page.entries;
        token = tokenAfter(page);
      } while (token !== undefined);
    },
  };
}

const resultOf = (answer: Answer): UpstreamResult => (answer.kind === 'done' ? { kind: 'done' } : answer);

/** Makes calls within the key's budget; no message contains the key. */
function openCalls(options: UpstreamOptions, address: string): Call {
  const { baseUrl, accessKey, keyHeader, http, rateLimiter, metrics, now = Date.now } = options;
  // A service may repeat the key in its refusal.
  const mask = maskerOf([accessKey]);
  const masked = (text: string): string => cutText(mask(text), LONGEST_MESSAGE);
  const queue = openCallQueue(rateLimiter, now);
  return async (method, path, query, signal) => {
    if (!(await queue.mayCall(signal))) return queue.paused();
    const search = new URLSearchParams({ ...query, ...(keyHeader === undefined && { accesskey: accessKey }) });
    const headers = { accept: 'application/json', ...(keyHeader !== undefined && { [keyHeader]: accessKey }) };
    try {
      await currentSendContext()?.guard({ method, url: address, signal });
      const answer = await http({ method, url: `${baseUrl}${path}?${search}`, headers, signal });
      metrics?.upstreamCalls.inc({ code: String(answer.status) });
      const read = readAnswer(answer, `${method} ${address}${path}`, masked, now());
      if (read.kind === 'rate' || read.kind === 'auth') await queue.block(read.retryAfterMs, read.message, read.kind);
      return read;
    } catch (error) {
      signal.throwIfAborted();
      // The lease was lost: nothing was sent.
      if (error instanceof ProviderError) return { kind: 'unavailable', message: error.message };
      if (!(error instanceof HttpFault)) throw error;
      metrics?.upstreamCalls.inc({ code: error.kind });
      return { kind: 'unavailable', message: masked(error.message) };
    }
  };
}

/** Queues calls, and pauses the account. */
interface CallQueue {
  /** False if the account is or gets paused. */
  mayCall(signal: AbortSignal): Promise<boolean>;
  block(ms: number, reason: string, fault: BlockFault): Promise<void>;
  paused(): Promise<UpstreamFault>;
}

function openCallQueue(rateLimiter: RateLimiter, now: () => number): CallQueue {
  const waiting = new Set<AbortController>();
  return { mayCall, block, paused };

  async function mayCall(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if ((await rateLimiter.blockedUntil()) !== undefined) return false;
    const ending = new AbortController();
    const end = (): void => ending.abort();
    signal.addEventListener('abort', end, { once: true });
    waiting.add(ending);
    try {
      await rateLimiter.acquire(BUDGET, ending.signal);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!ending.signal.aborted) throw error;
      return false;
    } finally {
      signal.removeEventListener('abort', end);
      waiting.delete(ending);
    }
  }

  async function block(ms: number, reason: string, fault: BlockFault): Promise<void> {
    await rateLimiter.block(now() + ms, reason, fault);
    for (const one of waiting) one.abort();
  }

  async function paused(): Promise<UpstreamFault> {
    const { until = now(), reason = null } = (await rateLimiter.blockedUntil()) ?? {};
    const message = reason ?? 'calls to the monitoring service are paused';
    return { kind: 'rate', retryAfterMs: Math.max(until - now(), 1_000), message };
  }
}

/** The status decides; the text of the body is for people. */
function readAnswer(
  { status, headers, body }: OutboundResponse,
  what: string,
  masked: (text: string) => string,
  now: number,
): Answer {
  const read = readJson(Buffer.from(body));
  const json = read.ok ? read.value : undefined;
  if (isWithin(status, 200)) return { kind: 'done', json };
  const errorText = readErrorMessage(json);
  const message = masked(errorText === undefined ? `${what} was answered ${status}` : `${errorText} (${status})`);
  if (status === 429 || (status === 503 && headers['retry-after'] !== undefined)) {
    const asked = retryAfterMs(headers['retry-after'], now) ?? PAUSE_MS;
    return { kind: 'rate', retryAfterMs: Math.min(Math.max(asked, LEAST_PAUSE_MS), LONGEST_PAUSE_MS), message };
  }
  if (status === 401 || status === 403) {
    const advice = `the monitoring service does not accept the key: check connector.upstream.accessKey. ${message}`;
    return { kind: 'auth', retryAfterMs: PAUSE_MS, message: advice };
  }
  const isRefusal = isWithin(status, 400) && status !== 408 && status !== 425;
  return isRefusal ? { kind: 'refused', status, message } : { kind: 'unavailable', message };
}

const isWithin = (status: number, hundred: number): boolean => status >= hundred && status < hundred + 100;

type List = <T>(
  path: string,
  query: Query,
  read: (json: unknown) => ListRead<T>,
  signal: AbortSignal,
) => Promise<ListRead<T> & { ok: true }>;

const openLists =
  (call: Call, address: string, { now = Date.now, waiting }: Pick<UpstreamOptions, 'now' | 'waiting'>): List =>
  async (path, query, read, signal) => {
    const since = now();
    for (let tries = 1; ; tries++) {
      const answer = await call('GET', path, query, signal);
      if (answer.kind === 'done') {
        const page = read(answer.json);
        if (page.ok) return page;
        throw new UpstreamError('unavailable', `GET ${address}${path} cannot be read: ${page.reason}`);
      }
      const wait = waitAfter(answer, tries);
      if (wait === undefined || wait > LONGEST_WAIT_MS || tries === TRIES)
        throw new UpstreamError(answer.kind, answer.message);
      waiting?.({ trouble: answer.message, wait: { since, until: now() + wait } });
      await pause(wait, signal);
    }
  };

/** Undefined if another try would fail. */
function waitAfter(fault: UpstreamFault, tries: number): number | undefined {
  if (fault.kind === 'unavailable') return backoff(tries);
  return fault.kind === 'rate' ? fault.retryAfterMs : undefined;
}
