/** A small monitoring service for tests: real HTTP, items per provider, jobs, pages, refusals and scripted faults. */
import { onTestFinished } from 'vitest';
import {
  type EmulatorAnswer,
  type EmulatorRequest,
  type ScriptedFault,
  serveEmulator,
} from '../../providers/kit/emulator/emulator.ts';

export interface FakeService {
  readonly url: string;
  readonly accessKey: string;
  /** Monitored items of a provider, `entityId id` each, in the order they were added. */
  items(provider: string): readonly string[];
  /** Every change asked for with effect, oldest first: `add provider entityId id`, ` +update` if one was asked. */
  readonly changes: readonly string[];
  /** Requests as they came, `METHOD /path?query`. */
  readonly requests: readonly string[];
  /** When each of them came, in ms since 1970. */
  readonly times: readonly number[];
  /** Answers every call for this entity with an error. */
  refuse(entityId: string, status: number, message: string): void;
  /** Makes a refused entity known again. */
  allow(entityId: string): void;
  /** Adds an item past the API. */
  put(provider: string, entityId: string, id: string): void;
  /** Takes one away past the API. */
  take(provider: string, entityId: string, id: string): void;
  fault(fault: ScriptedFault): void;
}

/** A 429 as the service answers it. */
export const tooMany = (retryAfter?: string): ScriptedFault['action'] => ({
  kind: 'status',
  status: 429,
  body: { errorMessage: 'Rate limit exceeded', httpStatusCode: 429, errorCode: 26 },
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
});

/** Starts the service; it ends with the test. `page` answers each call for a page of items, counted from 1. */
export async function serveService(
  options: { accessKey?: string; header?: string; page?: (call: number) => object } = {},
): Promise<FakeService> {
  const { accessKey = 'k3y/with+signs=', header } = options;
  const items = new Map<string, Set<string>>();
  const refusals = new Map<string, EmulatorAnswer>();
  const changes: string[] = [];
  const requests: string[] = [];
  const times: number[] = [];
  let pages = 0;

  /** Adds or removes an item, as the address says. */
  const change = (provider: string, method: string, query: URLSearchParams): EmulatorAnswer => {
    const [entityId, id] = [query.get('entityId') ?? '', query.get('id') ?? ''];
    const refusal = refusals.get(entityId);
    if (refusal !== undefined) return refusal;
    const of = items.get(provider) ?? new Set();
    items.set(provider, of);
    const item = `${entityId} ${id}`;
    if (method === 'DELETE' && !of.delete(item)) return failure(404, 'There is no such item');
    if (method === 'POST') of.add(item);
    const what = method === 'POST' ? 'add' : 'remove';
    changes.push(`${what} ${provider} ${item}${query.get('sendUpdate') === 'true' ? ' +update' : ''}`);
    return { status: 204 };
  };
  const list = (job: string, query: URLSearchParams): EmulatorAnswer => {
    const all = [...(items.get(job.slice('job-'.length)) ?? [])];
    const from = Number(query.get('continuationToken') ?? 0);
    const to = from + Number(query.get('take') ?? 100);
    const results = all.slice(from, to).map((item) => ({ entityId: item.split(' ')[0], id: item.split(' ')[1] }));
    const next = to < all.length ? String(to) : null;
    return { status: 200, body: options.page?.(++pages) ?? { results, continuationToken: next } };
  };
  const handle = ({ method, path, url, headers }: EmulatorRequest): EmulatorAnswer => {
    requests.push(`${method} ${path}`);
    times.push(Date.now());
    const query = url.searchParams;
    const key = header === undefined ? query.get('accesskey') : headers[header];
    if (key !== accessKey) return failure(401, `The key ${key} is not valid`);
    const [, third, job] =
      /^\/apps\/monitoring\/jobs(?:\/thirdparty\/([^/]+)\/items|\/([^/]+)\/items)?$/.exec(url.pathname) ?? [];
    if (third !== undefined) return change(decodeURIComponent(third), method, query);
    if (job !== undefined) return list(decodeURIComponent(job), query);
    return { status: 200, body: [...items.keys()].map((name) => ({ id: `job-${name}`, name })) };
  };

  const served = await serveEmulator(handle);
  onTestFinished(() => served.close());
  return {
    url: served.url,
    accessKey,
    changes,
    requests,
    times,
    items: (provider) => [...(items.get(provider) ?? [])],
    refuse: (entityId, status, message) => void refusals.set(entityId, failure(status, message)),
    allow: (entityId) => void refusals.delete(entityId),
    put: (provider, entityId, id) =>
      void items.set(provider, (items.get(provider) ?? new Set()).add(`${entityId} ${id}`)),
    take: (provider, entityId, id) => void items.get(provider)?.delete(`${entityId} ${id}`),
    fault: served.fault,
  };
}

const failure = (status: number, errorMessage: string): EmulatorAnswer => ({
  status,
  body: { errorMessage, httpStatusCode: status, errorCode: 1 },
});
