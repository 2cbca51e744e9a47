/** Where the CRMs themselves post. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CrmRequest, WebhookRead } from '../../../providers/provider.ts';
import { addCrmWebhookRoute, type CrmWebhookOptions } from '../../../src/connector/heal/webhook.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { createServer } from '../../../src/http/server/server.ts';
import { A, type Fixture, newFixture } from './fixture.ts';

interface WebhookFixture extends Fixture {
  readonly url: string;
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly logged: unknown[];
  post(body: string, path?: string): Promise<Response>;
}

/** The route on a server of its own; what a body says is read as the test tells. */
async function newStage(
  webhook: ((request: CrmRequest) => WebhookRead) | undefined,
  options: Partial<CrmWebhookOptions> & { autoLink?: boolean } = {},
): Promise<WebhookFixture> {
  const base = await newFixture('sqlite', { autoLink: options.autoLink ?? true });
  const provider = { ...base.crm.provider, ...(webhook !== undefined && { webhook }) };
  const metrics = createMetrics();
  const logged: unknown[] = [];
  const log = {
    warn: (...line: unknown[]) => void logged.push(line),
    error: (...line: unknown[]) => void logged.push(line),
  };
  const server = createServer({ log });
  const deps = {
    store: base.store,
    publicUrl: undefined,
    refusal: () => undefined,
    metrics,
    now: () => base.now,
    log,
  };
  addCrmWebhookRoute(server, { ...deps, crms: [{ ...base.crm, provider }], ...options });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  const post = (body: string, path = '/providers/crm/webhook') =>
    fetch(url + path, { method: 'POST', body, headers: { 'content-type': 'application/json', 'x-sign': 'a' } });
  return Object.assign(base, { url, metrics, logged, post });
}

const named = (request: CrmRequest): WebhookRead => ({
  kind: 'records',
  ids: JSON.parse(Buffer.from(request.body).toString()),
});

describe("a CRM's webhook", () => {
  it('is answered after its records are marked, each once', async () => {
    const fixture = await newStage(named);
    const ids = Array.from({ length: 100 }, (_, index) => String(index % 40));
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.post(JSON.stringify(ids))));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(204));
    expect((await fixture.lanes('heal:crm')).length).toBe(40);
    await fixture.settle();
    expect([fixture.reads.length, await fixture.lanes('heal:crm')]).toEqual([1, []]);
  });

  it('marks only linked records if links are made by hand', async () => {
    const fixture = await newStage(named, { autoLink: false });
    await fixture.link('7', A);
    expect((await fixture.post('["7","8"]')).status).toBe(204);
    expect((await fixture.lanes('heal:crm')).map(({ key }) => key)).toEqual(['7']);
  });
});

it('passes the exact bytes and the called address to the provider', async () => {
  const seen: CrmRequest[] = [];
  const read = (request: CrmRequest): WebhookRead => {
    seen.push(request);
    return { kind: 'records', ids: [] };
  };
  const direct = await newStage(read);
  const body = '[{"name" :"Bl\u00e5b\u00e6r"}]';
  await direct.post(body, '/providers/crm/webhook?a=%2Fb');
  const proxied = await newStage(read, { publicUrl: 'https://sync.example.com/cvr' });
  await proxied.post(body);
  expect(seen).toMatchObject([
    { method: 'POST', url: `${direct.url}/providers/crm/webhook?a=%2Fb`, headers: { 'x-sign': 'a' } },
    { url: 'https://sync.example.com/cvr/providers/crm/webhook' },
  ]);
  for (const one of seen) expect(Buffer.from(one.body).equals(Buffer.from(body))).toBe(true);
});

it('accepts any content type, because the CRM chooses the format', async () => {
  const { url } = await newStage(() => ({ kind: 'records', ids: [] }));
  for (const type of ['text/xml', 'application/x-www-form-urlencoded', 'application/json'])
    expect(
      (await fetch(`${url}/providers/crm/webhook`, { method: 'POST', body: 'a', headers: { 'content-type': type } }))
        .status,
    ).toBe(204);
  expect((await fetch(`${url}/providers/crm/webhook`, { method: 'POST' })).status).toBe(204);
});

it.each([
  ['refused', 401],
  ['unreadable', 400],
] as const)('that is %s is answered %i, counted, told of once a minute, and marks nothing', async (kind, status) => {
  const fixture = await newStage(() => ({ kind, reason: 'as the test says' }));
  const answers = [await fixture.post('[]'), await fixture.post('[]')];
  expect(answers.map((answer) => answer.status)).toEqual([status, status]);
  expect(await answers[0]?.json()).toMatchObject({ httpStatusCode: status, errorMessage: expect.any(String) });
  expect([fixture.logged.length, await fixture.lanes('heal:crm')]).toEqual([1, []]);
});

it('gets 404 for an unknown connection or one without webhooks', async () => {
  const fixture = await newStage(undefined);
  expect([(await fixture.post('[]')).status, (await fixture.post('[]', '/providers/other/webhook')).status]).toEqual([
    404, 404,
  ]);
});

it('that is too large is answered 413', async () => {
  const fixture = await newStage(named);
  expect((await fixture.post(' '.repeat(1024 * 1024 + 1))).status).toBe(413);
});

it('that cannot be stored gets 503 with Retry-After', async () => {
  const stopping = await newStage(named, { refusal: () => 'stopping' });
  const broken = await newStage(() => {
    throw new Error('a bug in a provider');
  });
  const away = await newStage(named);
  await away.store.close();
  for (const fixture of [stopping, broken, away]) {
    const answer = await fixture.post('["7"]');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await answer.text()).not.toContain('bug');
  }
  expect(broken.logged).toMatchObject([
    [{ provider: 'crm' }, expect.stringMatching(/a fault of the provider: the CRM/)],
  ]);
  expect(away.logged).toMatchObject([[{ provider: 'crm' }, expect.stringMatching(/^could not store a webhook/)]]);
});

it('cannot release the safety limit', async () => {
  const fixture = await newStage(() => ({ kind: 'records', ids: ['*', '7'] }));
  expect((await fixture.post('')).status).toBe(204);
  expect((await fixture.lanes('heal:crm')).map(({ key }) => key)).toEqual(['7']);
});
