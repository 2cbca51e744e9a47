import { describe, expect, it, onTestFinished } from 'vitest';
import { openUpstream, type UpstreamOptions, upstreamRateLimiter } from '../../../src/connector/monitoring/upstream.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { type FakeService, serveService, tooMany } from '../../support/service.ts';
import { newStore } from '../../support/stores.ts';

const item = { entityId: 'CVR-1-10000001', id: 'a/b 7' };
const never = new AbortController().signal;

const open = async (
  service: FakeService,
  {
    deadlineMs = 60_000,
    ...more
  }: { deadlineMs?: number } & Partial<Pick<UpstreamOptions, 'keyHeader' | 'take' | 'accessKey' | 'ceiling'>> = {},
  aMinute = 60_000,
) => {
  const store = await newStore('sqlite');
  const client = openClient({ deadlineMs });
  onTestFinished(() => client.close());
  const rateLimiter = upstreamRateLimiter(store, aMinute, Date.now);
  const { url: baseUrl, accessKey } = service;
  const metrics = createMetrics();
  const upstream = openUpstream({ baseUrl, accessKey, http: client.http, rateLimiter, metrics, ...more });
  const calls = async () =>
    (await metrics.upstreamCalls.get()).values.map(({ labels, value }) => `${labels.code}: ${value}`);
  return { upstream, rateLimiter, calls };
};

it('adds and removes an item, with and without an update', async () => {
  const service = await serveService();
  const { upstream, calls } = await open(service);
  expect(await upstream.add(item, false, 'my crm', never)).toEqual({ kind: 'done' });
  expect(await upstream.add(item, true, 'my crm', never)).toEqual({ kind: 'done' });
  expect(service.items('my crm')).toEqual(['CVR-1-10000001 a/b 7']);
  expect(await upstream.remove(item, 'my crm', never)).toEqual({ kind: 'done' });
  expect(service.changes.map((change) => change.split(' ').at(-1))).toEqual(['7', '+update', '7']);
  expect(service.items('my crm')).toEqual([]);
  expect(await calls()).toEqual(['204: 3']);
});

it('treats a missing item as removed', async () => {
  const { upstream } = await open(await serveService());
  expect(await upstream.remove(item, 'crm', never)).toEqual({ kind: 'done' });
});

it('sends the key in the query, or in the configured header', async () => {
  const byQuery = await serveService();
  await (await open(byQuery)).upstream.add(item, false, 'crm', never);
  expect(byQuery.requests[0]).toContain('accesskey=');
  const byHeader = await serveService({ header: 'x-access-key' });
  const { upstream } = await open(byHeader, { keyHeader: 'x-access-key' });
  expect(await upstream.add(item, false, 'crm', never)).toEqual({ kind: 'done' });
  expect(byHeader.requests[0]).not.toContain('accesskey');
});

it.each([400, 404, 422])('reports the answer of the service if it refuses with %i', async (status) => {
  const service = await serveService();
  service.refuse(item.entityId, status, 'No such company');
  const { upstream } = await open(service);
  expect(await upstream.add(item, false, 'crm', never)).toEqual({
    kind: 'refused',
    status,
    message: `No such company (${status})`,
  });
});

it('decides by the status, not by the body', async () => {
  const service = await serveService();
  const { upstream } = await open(service);
  const answers = [
    { status: 200, body: 'ok' },
    { status: 202, body: '{"error":' },
    { status: 422, body: '<html>' },
    { status: 500, body: { errorMessage: 'broken' } },
  ];
  const kinds: string[] = [];
  for (const answer of answers) {
    service.fault({ match: 'POST', action: { kind: 'status', ...answer } });
    kinds.push((await upstream.add(item, false, 'crm', never)).kind);
  }
  expect(kinds).toEqual(['done', 'done', 'refused', 'unavailable']);
});

it('pauses all calls for the Retry-After of a 429, or for a minute without one', async () => {
  for (const [header, ms] of [
    ['7', 7_000],
    [undefined, 60_000],
    ['soon', 60_000],
    ['0', 1_000],
  ] as const) {
    const service = await serveService();
    const { upstream, rateLimiter, calls } = await open(service);
    service.fault({ match: 'POST', action: tooMany(header) });
    const before = Date.now();
    expect(await upstream.add(item, false, 'crm', never)).toMatchObject({ kind: 'rate', retryAfterMs: ms });
    const until = (await rateLimiter.blockedUntil())?.until ?? 0;
    expect(until).toBeGreaterThanOrEqual(before + ms);
    expect(until).toBeLessThanOrEqual(Date.now() + ms);
    expect(await upstream.add(item, false, 'crm', never)).toMatchObject({
      kind: 'rate',
      message: 'Rate limit exceeded (429)',
    });
    expect(await calls()).toEqual(['429: 1']);
  }
});

it('makes no further call into the pause of a 429', async () => {
  const service = await serveService();
  const { upstream, calls } = await open(service, {}, 3_000);
  service.fault({ match: 'POST', times: 40, action: tooMany('60') });
  const results = await Promise.all(Array.from({ length: 40 }, () => upstream.add(item, false, 'crm', never)));
  expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['rate']));
  expect(Number((await calls())[0]?.slice('429: '.length))).toBeLessThan(20);
});

it('pauses if the key is refused, and never shows it', async () => {
  const service = await serveService();
  const accessKey = 'wr0ng+k&y';
  const { upstream, rateLimiter } = await open(service, { accessKey });
  const result = await upstream.add(item, false, 'crm', never);
  expect(result).toMatchObject({ kind: 'auth', message: expect.stringContaining('connector.upstream.accessKey') });
  expect(await rateLimiter.blockedUntil()).toBeDefined();
  const reported = JSON.stringify([result, await rateLimiter.blockedUntil()]);
  expect(reported).not.toContain(accessKey);
  expect(reported).not.toContain(encodeURIComponent(accessKey));
});

it.each(['hang', 'reset', 'cut'] as const)('reports a missing answer after a %s, without the key', async (kind) => {
  const service = await serveService();
  const { upstream } = await open(service, kind === 'hang' ? { deadlineMs: 1_000 } : {});
  service.fault({ match: 'POST', action: { kind } });
  const result = await upstream.add(item, false, 'crm', never);
  expect(result.kind).toBe('unavailable');
  expect(JSON.stringify(result)).not.toContain('k3y');
});

it('aborts a call on request', async () => {
  const service = await serveService();
  const { upstream } = await open(service);
  service.fault({ match: 'POST', action: { kind: 'hang' } });
  const stop = new AbortController();
  const call = upstream.add(item, false, 'crm', stop.signal);
  stop.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
});

it('lists jobs, and the items of one page by page', async () => {
  const service = await serveService();
  for (let i = 0; i < 5; i++) service.put('crm', `CVR-1-1000000${i}`, String(i));
  const { upstream } = await open(service, { take: 2 });
  expect(await upstream.jobs(never)).toEqual([{ id: 'job-crm', name: 'crm' }]);
  const items = await Array.fromAsync(upstream.items('job-crm', never));
  expect(items.map(({ id }) => id)).toEqual(['0', '1', '2', '3', '4']);
  expect(service.requests.filter((request) => request.includes('/items')).length).toBe(3);
});

it('retries a list after a 429 or a fault, and stops at a refusal', async () => {
  const service = await serveService();
  const { upstream } = await open(service);
  service.put('crm', item.entityId, '7');
  service.fault({ match: 'GET', action: tooMany('1') });
  expect(await upstream.jobs(never)).toEqual([{ id: 'job-crm', name: 'crm' }]);
  service.fault({ match: 'GET', action: { kind: 'status', status: 404, body: { errorMessage: 'No such job' } } });
  await expect(Array.fromAsync(upstream.items('job-x', never))).rejects.toThrow('No such job (404)');
});

const resultsOf = (call: number) => [{ entityId: `CVR-1-${10_000_000 + call}`, id: String(call) }];

describe('a list whose pages never end', () => {
  it.each<[string, number, (call: number) => object]>([
    ['a continuationToken came twice', 2, () => ({ results: [], continuationToken: '1' })],
    ['a page came twice', 2, (call) => ({ results: resultsOf(7), continuationToken: `t${call}` })],
    ['11 pages in a row are empty', 11, (call) => ({ results: [], continuationToken: `t${call}` })],
    [
      'a continuationToken has more than 4096 characters',
      1,
      (call) => ({ results: resultsOf(call), continuationToken: 'x'.repeat(300_000) }),
    ],
    ['6 items came of 3', 6, (call) => ({ results: resultsOf(call), continuationToken: call, resultsFound: 3 })],
    ['cvrsync reads 40 items of a list at most', 40, (call) => ({ results: resultsOf(call), continuationToken: call })],
    [
      'cvrsync reads 50 pages of a list at most',
      50,
      (call) => ({ results: call % 2 ? resultsOf(call) : [], continuationToken: call }),
    ],
  ])('ends with the reason: %s', async (reason, calls, page) => {
    const service = await serveService({ page });
    const { upstream } = await open(service, { take: 2, ceiling: { pages: 50, items: 40 } });
    const read = Array.fromAsync(upstream.items('job-crm', never));
    await expect(read).rejects.toThrow(`the items of job job-crm do not end: ${reason}`);
    await expect(read).rejects.toMatchObject({ name: 'UpstreamError', fault: 'refused' });
    expect(service.requests.length).toBe(calls);
  });

  it('ends at the last page, even if it has a token', async () => {
    const page = (call: number) => ({ results: resultsOf(call), continuationToken: call, hasNextPage: call < 3 });
    const { upstream } = await open(await serveService({ page }));
    expect(await Array.fromAsync(upstream.items('job-crm', never))).toHaveLength(3);
  });
});
