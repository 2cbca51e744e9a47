import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { documentOf } from '../../../src/commands/emulate/sample/document.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { createGuard, type GuardOptions } from '../../../src/http/outbound/guard.ts';
import { createServer } from '../../../src/http/server/server.ts';
import { readPayload } from '../../../src/protocol/payload.ts';
import { sampleCompany } from '../../../src/protocol/sample/company.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';
import { createKey, type Scope, USUAL_SCOPES } from '../../../src/service/keys/keys.ts';
import { readDocument } from '../../../src/service/register/document/document.ts';
import { createAccess } from '../../../src/service/routes/access.ts';
import { addTestWebhookRoutes } from '../../../src/service/routes/testwebhook.ts';
import { TEST_FAULTS } from '../../../src/service/test-webhook/test-webhook.ts';
import { handClock } from '../../support/clock.ts';
import { readDoc, spans, tableIn } from '../../support/docs.ts';
import { newStore } from '../../support/stores.ts';
import { openHook, statuses } from '../delivering.ts';

interface Answer {
  readonly status: number;
  readonly message: string;
  readonly errors: Readonly<Record<string, string>>;
  readonly retryAfter: string | null;
}

/** The endpoint over a store of its own; asked with a key of these scopes. */
async function opened(
  guard: GuardOptions = { allow: ['127.0.0.1'] },
  { scopes = USUAL_SCOPES, deadlineMs = 60_000 }: { scopes?: readonly Scope[]; deadlineMs?: number } = {},
) {
  const store = await newStore('sqlite');
  const clock = handClock();
  const { now } = clock;
  const client = openClient({ guard: createGuard(guard), connectMs: deadlineMs, deadlineMs, excerptBytes: 16_384 });
  const access = createAccess({ store, requestsPerMinute: 500, now });
  const server = createServer();
  addTestWebhookRoutes(server, { store, access, http: client.http, now, placeType: 'Place' });
  const origin = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await server.close();
    await client.close();
  });
  const { key } = await store.write((tx) => createKey(tx, { name: randomUUID(), scopes }, now()));
  const ask = async (query: Record<string, string> | string, options: RequestInit = {}): Promise<Answer> => {
    const text = typeof query === 'string' ? query : new URLSearchParams({ accessKey: key, ...query });
    const answer = await fetch(`${origin}/apps/monitoring/testwebhook?${text}`, { method: 'POST', ...options });
    const body = await answer.text();
    const json = body === '' ? {} : JSON.parse(body);
    const errors = Object.fromEntries(
      (json.errors ?? []).map((each: { path: string; message: string }) => [each.path, each.message]),
    );
    return {
      status: answer.status,
      message: json.errorMessage ?? '',
      errors,
      retryAfter: answer.headers.get('retry-after'),
    };
  };
  return { store, clock, key, ask };
}

describe('a test of a webhook', () => {
  it('sends the state of an invented company, marked as a test, and answers 204', async () => {
    const hook = await openHook();
    const { ask, store } = await opened();
    expect(await ask({ url: hook.url })).toMatchObject({ status: 204, message: '' });
    const [{ headers, body } = expect.fail()] = hook.seen;
    expect(headers).toMatchObject({ 'webhook-test': 'true', 'webhook-id': expect.stringMatching(/^msg_/) });
    expect(headers).not.toHaveProperty('webhook-signature');
    const read = readPayload(JSON.parse(body));
    const { newReport: invented } = samplePayload({ now: 0 }).updates;
    expect(read).toMatchObject({ ok: true, payload: { updates: { name: { before: null }, newReport: invented } } });
    expect(await store.db.selectFrom('delivery').selectAll().execute()).toEqual([]);
  });

  it('accepts the names of its parameters in any case, and an unexpected body', async () => {
    const hook = await openHook();
    const { ask, key } = await opened();
    const query = new URLSearchParams({ ACCESSKEY: key, Url: hook.url }).toString();
    expect((await ask(query, { body: 'x', headers: { 'content-type': 'text/plain' } })).status).toBe(204);
  });

  it('sends the state of a stored company', async () => {
    const hook = await openHook();
    const { ask, store, clock } = await opened();
    const company = sampleCompany(3);
    const at = clock.now() - 3_600_000;
    const reading = readDocument(documentOf([{ company, from: '2026-08-31', at }], { loadedAt: at }), '2026-09-01');
    if (reading.kind !== 'company') expect.fail(`read a ${reading.kind}`);
    const row = { entity: company.entityId, body: JSON.stringify(reading.company), digest: '', ahead: null };
    const values = { ...row, loaded_at: reading.loadedAt, updated_at: at };
    const report = sampleCompany(1).report ?? expect.fail();
    const filing = {
      id: 'f1',
      entity: company.entityId,
      data: JSON.stringify(report),
      published_at: '2026-04-11T07:00:00.000Z',
    };
    const year = { period_start: '2025-01-01', period_end: '2025-12-31' };
    await store.write(async (tx) => {
      await tx.insertInto('snapshot').values(values).execute();
      await tx
        .insertInto('filing')
        .values({ ...filing, ...year, error: null, retry_at: null, record: null, attempts: 0 })
        .execute();
    });
    expect((await ask({ url: hook.url, entityId: company.entityId.toLowerCase() })).status).toBe(204);
    const read = readPayload(JSON.parse(hook.seen[0]?.body ?? ''));
    const updates = { name: { before: null, after: company.name }, newReport: { data: report } };
    expect(read).toMatchObject({ ok: true, payload: { entityId: company.entityId, updates } });
  });

  it('does not know a company that is not stored', async () => {
    const hook = await openHook();
    const { ask } = await opened();
    expect((await ask({ url: hook.url, entityId: 'CVR-1-99000015' })).status).toBe(404);
    expect(hook.seen).toEqual([]);
  });
});

describe('a webhook that fails its test is reported', () => {
  const classOf = async (url: string, guard?: GuardOptions, options?: { deadlineMs: number }): Promise<Answer> =>
    (await opened(guard, options)).ask({ url });

  it('by its status and the first KiB of its answer', async () => {
    const hook = await openHook((response) => void response.writeHead(418).end(`no\n${'x'.repeat(5_000)}`));
    const answer = await classOf(hook.url);
    expect(answer).toMatchObject({ status: 502, errors: { failure: 'status', status: '418' } });
    expect(answer.errors['answer']).toHaveLength(1_024);
    expect(answer.message).toMatch(/\(status\).*418: no xxx/);
  });

  it('as a redirect that is not followed', async () => {
    const target = await openHook();
    const hook = await openHook((response) => void response.writeHead(302, { location: target.url }).end());
    expect(await classOf(hook.url)).toMatchObject({ status: 502, errors: { failure: 'status', status: '302' } });
    expect(target.seen).toEqual([]);
  });

  it('as refused, timeout, dns, tls, cut or too-large', async () => {
    const all = { allowPrivate: true };
    expect(await classOf('http://127.0.0.1:1/', all)).toMatchObject({ status: 502, errors: { failure: 'refused' } });
    const hanging = await openHook(() => undefined);
    expect(await classOf(hanging.url, undefined, { deadlineMs: 500 })).toMatchObject({
      status: 502,
      errors: { failure: 'timeout' },
    });
    const resolve = () => Promise.reject(new Error('NXDOMAIN'));
    expect(await classOf('http://hook.example/', { resolve })).toMatchObject({
      status: 502,
      errors: { failure: 'dns' },
    });
    const plain = await openHook(statuses(200));
    const secure = plain.url.replace('http:', 'https:');
    expect(await classOf(secure)).toMatchObject({ status: 502, errors: { failure: 'tls' } });
    const cutting = await openHook((response) => void response.socket?.destroy());
    expect(await classOf(cutting.url)).toMatchObject({ status: 502, errors: { failure: 'cut' } });
    const long = { 'x-long': 'x'.repeat(100_000) };
    const talking = await openHook((response) => void response.writeHead(200, long).end());
    expect(await classOf(talking.url)).toMatchObject({ status: 502, errors: { failure: 'too-large' } });
  });

  it('with a documented reason', () => {
    const routes = tableIn(readDoc('docs/http-api.md'), 'Route', 'Who calls it');
    const row = routes.find((each) => each['Route']?.includes('/testwebhook'));
    expect(spans(row?.['What it does'] ?? '').toSorted()).toEqual([...TEST_FAULTS, 'status'].toSorted());
  });

  it.each([
    'http://127.0.0.1:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://0x7f000001:PORT/',
    'http://2130706433:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://localhost:PORT/',
    'http://169.254.169.254/latest/meta-data/',
  ])('as address, and is never called: %s', async (url) => {
    const hook = await openHook();
    const { port } = new URL(hook.url);
    expect(await classOf(url.replace('PORT', port), {})).toMatchObject({ status: 422, errors: { failure: 'address' } });
    expect(hook.seen).toEqual([]);
  });
});

describe('a caller', () => {
  it.each([
    ['', 'querystring.url'],
    ['url=', 'querystring.url'],
    ['url=ftp%3A%2F%2Fexample.com', 'querystring.url'],
    ['url=nonsense', 'querystring.url'],
    ['url=http%3A%2F%2Fa%3Ab%40example.com', 'querystring.url'],
    ['url=http%3A%2F%2Fexample.com&url=http%3A%2F%2Fexample.org', 'querystring.url'],
    ['url=http%3A%2F%2Fexample.com&entityId=12', 'querystring.entityId'],
    [`url=${encodeURIComponent(`http://example.com/${'x'.repeat(3_000)}`)}`, 'querystring.url'],
  ])('learns what is wrong with %j', async (query, path) => {
    const { ask, key } = await opened();
    const answer = await ask(`accessKey=${key}&${query}`);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.errors)).toContain(path);
  });

  it('gets no advice that this call does not support', async () => {
    const { ask, key } = await opened();
    const answer = await ask(`accessKey=${key}&url=http%3A%2F%2Fa%3Ab%40example.com`);
    expect(answer.errors['querystring.url']).toBe('should contain no user name or password');
  });

  it('without a key, or with one of another scope, is refused', async () => {
    const { ask } = await opened({}, { scopes: ['news'] });
    expect((await ask('url=http%3A%2F%2Fexample.com')).status).toBe(401);
    expect((await ask({ url: 'http://example.com' })).status).toBe(403);
  });

  it('may test ten times a minute', async () => {
    const hook = await openHook();
    const { ask, clock } = await opened();
    for (let i = 0; i < 10; i++) expect((await ask({ url: hook.url })).status).toBe(204);
    expect(await ask({ url: hook.url })).toMatchObject({ status: 429, retryAfter: expect.stringMatching(/^\d+$/) });
    expect(hook.seen).toHaveLength(10);
    clock.forward(60_000);
    expect((await ask({ url: hook.url })).status).toBe(204);
  });
});
