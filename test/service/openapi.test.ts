/** The OpenAPI document is valid, its examples work, and answers are as it describes them. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import Schema from 'typebox/schema';
import { afterAll, describe, expect, it } from 'vitest';
import { errorBody } from '../../src/protocol/api.ts';
import { verifyAuth } from '../../src/protocol/auth.ts';
import { EVENT_NAMES } from '../../src/protocol/events.ts';
import { readPayload } from '../../src/protocol/payload.ts';
import { USUAL_SCOPES } from '../../src/service/keys/keys.ts';
import { beginErasure } from '../../src/store/erasure/erasures.ts';
import { newFolder } from '../support/stores.ts';
import { ofStranger } from '../support/stranger.ts';
import {
  ADMIN_TOKEN,
  addressOf,
  CALLS,
  lay,
  layConfiguration,
  layEntry,
  layLeft,
  layRecord,
  MERGED,
  type Operation,
  proofOf,
  startProcess,
} from './openapi.ts';

const running = await startProcess();
const { app, document, operations } = running;
const hook = createServer((request, response) => request.resume().on('end', () => response.writeHead(204).end()));
await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
const hookAddress = hook.address();
const hookUrl = `http://127.0.0.1:${typeof hookAddress === 'object' ? hookAddress?.port : 0}/cvr`;
afterAll(async () => {
  await running.close();
  hook.close();
});

/** Checks that an answer is one that is documented, body included; returns its status. */
async function documented({ responses, method, path }: Operation, answer: Response): Promise<number> {
  const { status } = answer;
  const text = await answer.text();
  const said = responses[status] ?? responses[`${String(status)[0]}XX`];
  expect(said, `${method} ${path} answered ${status}: ${text.slice(0, 300)}`).toBeDefined();
  const [type = ''] = (answer.headers.get('content-type') ?? '').split(';');
  if (said?.content === undefined) expect(text).toBe('');
  else {
    const schema = said.content[type]?.schema;
    expect(schema, `${method} ${path} answered ${type}`).toBeDefined();
    const body: unknown = type === 'application/json' ? JSON.parse(text) : text;
    expect(Schema.Check(schema ?? false, body), `${method} ${path}: ${text.slice(0, 500)}`).toBe(true);
    if (status >= 400 && type === 'application/json') expect(Schema.Check(errorBody, body)).toBe(true);
  }
  return status;
}

const send = (operation: Operation, address: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
  fetch(operation.base + address, {
    method: operation.method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });

const isKeyRoute = ({ security }: Operation): boolean => security.some((way) => 'accessKeyHeader' in way);
const isAdminRoute = ({ security }: Operation): boolean => security.some((way) => 'adminToken' in way);
/** Whether an operation is about the record that is linked in the examples. */
const isOfRecord = ({ path }: Operation): boolean => /^\/admin\/api\/(?:records|links)\b/u.test(path);
const isOfEntry = ({ path }: Operation): boolean => /^\/admin\/api\/(?:review|match)\b/u.test(path);
const isOfReturn = ({ path }: Operation): boolean => path.startsWith('/admin/api/connections/return');
/** What is there for an operation: a linked record for those on records alone, which a change of the rules would read. */
async function layFor(operation: Operation, scopes: Parameters<typeof lay>[2]): ReturnType<typeof lay> {
  if (isOfRecord(operation)) await layRecord(running);
  else await app.store.write((tx) => tx.deleteFrom('link').execute());
  await layLeft(running, isOfReturn(operation));
  if (isOfEntry(operation)) await layEntry(running, operation.operationId);
  return lay(running, hookUrl, scopes);
}
const named = operations.map((operation) => ({ ...operation, name: `${operation.method} ${operation.path}` }));

describe('the OpenAPI document', () => {
  it('passes linters without a warning', async () => {
    const folder = newFolder();
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    const manifest = createRequire(import.meta.url).resolve('@redocly/cli/package.json');
    const lint = [join(dirname(manifest), 'bin/cli.js'), 'lint', '--extends=recommended', '--format=json', file];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { stdout } = await promisify(execFile)(process.execPath, lint, { cwd: folder, env });
    const { totals, problems } = JSON.parse(stdout);
    expect({ totals, problems }).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] });
  });

  it('has an example for every parameter and every body that matches its schema', () => {
    for (const { method, path, parameters, body } of operations) {
      const known = parameters.map(({ name, schema, example }) => ({
        name,
        schema,
        example: example ?? schema['default'],
      }));
      for (const { name, schema, example } of known.filter(({ schema }) => !('enum' in schema)))
        expect(Schema.Check(schema, example), `${method} ${path} ${name}: ${example}`).toBe(true);
      if (body !== undefined)
        expect(Schema.Check(body.schema, body.example), `${method} ${path} ${JSON.stringify(body.example)}`).toBe(true);
    }
  });

  it.each(named)('describes $name correctly, as its example shows', async (operation) => {
    const { key, known } = await layFor(operation, USUAL_SCOPES);
    const id = operation.path.startsWith('/admin/api/jobs') ? known['JobId'] : known['id'];
    const its = operation.path.startsWith('/admin/api/keys') ? known['keyId'] : id;
    await layConfiguration(running);
    const { example } = operation.body ?? {};
    const body =
      typeof example === 'object' && example !== null && 'key' in example ? { ...example, key: known['key'] } : example;
    const address = addressOf(operation, { ...known, ...(its !== undefined && { id: its }) });
    const status = await documented(operation, await send(operation, address, proofOf(operation, key), body));
    expect([status, status < 300]).toEqual([status, true]);
  });
});

describe('a request of the service without a body', () => {
  const bodiless = named.filter(
    ({ method, body, tags }) => method !== 'GET' && body === undefined && !tags.includes('webhook'),
  );

  it.each(bodiless)('can say to $name that it is JSON, or of any other type', async (operation) => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const { key, known } = await layFor(operation, USUAL_SCOPES);
      const its = operation.path.startsWith('/admin/api/jobs') ? known['JobId'] : known['id'];
      const id = operation.path.startsWith('/admin/api/keys') ? known['keyId'] : its;
      const address = addressOf(operation, { ...known, ...(id !== undefined && { id }) });
      const headers = { ...proofOf(operation, key), 'content-type': type };
      const answer = await fetch(operation.base + address, { method: operation.method, headers });
      expect([type, await documented(operation, answer)]).toEqual([type, expect.toSatisfy((code) => code < 300)]);
    }
  });
});

describe('a parameter of a query', () => {
  const asking = named.filter(
    ({ parameters, security }) => security.length > 0 && parameters.some((each) => each.in === 'query'),
  );

  it.each(asking)('is refused by $name if it is not percent-encoded UTF-8', async (operation) => {
    const { key, known } = await layFor(operation, USUAL_SCOPES);
    const address = addressOf(operation, known);
    const names = operation.parameters.flatMap((each) => (each.in === 'query' ? each.name : []));
    for (const value of ['%C5ben', '%FF%FE', '%'])
      for (const name of names) {
        const { pathname, searchParams } = new URL(operation.base + address);
        searchParams.delete(name);
        const broken = `${pathname}?${searchParams}&${name}=${value}`;
        const answer = await send(operation, broken, proofOf(operation, key), operation.body?.example);
        expect(await documented(operation, answer.clone())).toBe(422);
        expect((await answer.json()).errors).toEqual([
          { path: `querystring.${name}`, message: 'is not percent-encoded UTF-8' },
        ]);
      }
  });
});

describe('the webhook payload in the OpenAPI document', () => {
  const { parameters = [], requestBody } = document.webhooks.companyEvent.post;
  const { schema = {}, examples = {} } = requestBody?.content['application/json'] ?? {};

  it('has a schema and an example for all 38 events', () => {
    expect(EVENT_NAMES).toHaveLength(38);
    expect(Object.keys(examples)).toEqual(EVENT_NAMES);
    expect(Object.keys(Object(schema['properties']).updates.properties)).toEqual(EVENT_NAMES);
  });

  it.each(EVENT_NAMES)('has an example of %s that its schema and the connector accept', (event) => {
    const value = examples[event]?.value;
    expect(Schema.Check(schema, value)).toBe(true);
    const read = readPayload(value);
    expect(read).toMatchObject({ ok: true, payload: { malformed: [], unknown: {} } });
    expect(read.ok && Object.keys(read.payload.updates)).toEqual([event]);
  });

  it('requires no header of receivers that a post may lack', () => {
    const needed = parameters.filter(({ required }) => required).map(({ name }) => name);
    expect(needed).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-attempt']);
  });

  it('names the headers, and signs its example with the secret it names', () => {
    const headers = Object.fromEntries(parameters.map(({ name, example }) => [name, String(example)]));
    const secret = /`(?<secret>whsec_\S+)`/u.exec(document.webhooks.companyEvent.post.description ?? '')?.groups?.[
      'secret'
    ];
    const body = Buffer.from(JSON.stringify(examples['name']?.value));
    const at = Number(headers['webhook-timestamp']) * 1_000;
    expect(verifyAuth([{ method: 'Signature', secret: secret ?? '' }], headers, body, at)).toEqual({
      ok: true,
      signed: true,
    });
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(['webhook-id', 'webhook-attempt', 'webhook-test']));
  });
});

describe('the public port', () => {
  it.each(['/metrics', '/openapi.json', '/admin/api/keys', '/admin/api/monitors'])('serves no %s', async (path) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    expect((await fetch(app.url + path, { headers })).status).toBe(404);
    expect((await fetch(app.adminUrl + path, { headers })).status).toBe(200);
  });

  it('shares only /live and /ready with the admin listener', async () => {
    for (const base of [app.url, app.adminUrl])
      for (const path of ['/live', '/ready']) expect((await fetch(base + path)).status, base + path).toBe(200);
    for (const path of ['/webhook', '/apps/monitoring/jobs', '/unsubscribe'])
      expect((await fetch(app.adminUrl + path)).status).toBe(404);
  });
});

const ANSWERS = ['retryEntry', 'dropEntry', 'acceptEntry', 'keepEntry'] as const;
const toEach = (body: object): Readonly<Record<string, object>> =>
  Object.fromEntries(ANSWERS.map((name) => [name, body]));
const BODIES_404: Readonly<Record<string, object>> = {
  ...toEach({ id: 'link/hubspot/404' }),
  takeAnswerBack: { id: 'link/hubspot/404' },
  rejectMatch: { provider: 'hubspot', record: '404' },
  holdRecord: { provider: 'hubspot', record: '404' },
  releaseProperty: { provider: 'hubspot', record: '404', property: 'name' },
  clearRecord: { provider: 'hubspot', record: '404', kind: 'hold' },
  applyConfig: { provider: 'nobody' },
  rollbackConfig: { version: 999 },
};
const BODIES_409: Readonly<Record<string, object>> = {
  ...toEach({ id: 'link/hubspot/8412345678', revision: 'another' }),
  takeAnswerBack: { id: `link/hubspot/${MERGED}` },
  applyConfig: { provider: 'hubspot', change: 'another' },
  rollbackConfig: { version: 3 },
  createOperator: { name: 'bo', role: 'viewer' },
  previewLeave: { provider: 'hubspot' },
  returnTo: { provider: 'hubspot' },
  previewReturnTo: { provider: 'hubspot' },
  holdRecord: { provider: 'hubspot', record: MERGED },
  releaseProperty: { provider: 'hubspot', record: MERGED, property: 'name' },
  clearRecord: { provider: 'hubspot', record: MERGED, kind: 'hold' },
  addLink: { provider: 'hubspot', record: '8412345678', entityId: 'CVR-1-10150817' },
  resubscribeRecipient: { recipient: 'nobody@example.com' },
};

/** How each refusal comes about. */
const REFUSED: Readonly<Record<string, (operation: Operation) => Promise<Response>>> = {
  async 400(operation) {
    const { key, known } = await layFor(operation, USUAL_SCOPES);
    const address = addressOf(operation, known);
    if (isKeyRoute(operation))
      return send(operation, `${address}${mark(address)}accesskey=other`, { 'x-access-key': key });
    if (operation.path === '/unsubscribe') return send(operation, '/unsubscribe?token=forged', {});
    if (operation.body !== undefined) return send(operation, address, proofOf(operation, key), '{');
    const odd = addressOf(operation, { ...known, id: 'ODD', seq: 'ODD', run: 'ODD', name: 'ODD' }).replace(
      'ODD',
      '%FF',
    );
    return send(operation, odd, proofOf(operation, key));
  },
  401: (operation) => send(operation, addressOf(operation, {}), ofStranger(), operation.body?.example),
  async 403(operation) {
    const { key } = await layFor(operation, []);
    const proof = isAdminRoute(operation) ? { authorization: `Bearer ${key}` } : { 'x-access-key': key };
    return send(operation, addressOf(operation, {}), proof, operation.body?.example);
  },
  async 404(operation) {
    const { key, known } = await layFor(operation, USUAL_SCOPES);
    const address = addressOf(operation, {
      ...known,
      Provider: 'nobody',
      JobId: 'nobody',
      id: 'nobody',
      run: '999999',
      name: 'nobody',
      entityId: 'CVR-1-99999999',
    });
    const body = BODIES_404[operation.operationId] ?? operation.body?.example;
    const withKey = operation.operationId === 'moveJob' ? { key: known['key'] } : body;
    return send(operation, address, proofOf(operation, key), withKey);
  },
  async 409(operation) {
    const { key, known } = await layFor(operation, USUAL_SCOPES);
    await layConfiguration(running, operation.operationId !== 'rollbackConfig');
    await layLeft(running, operation.operationId === 'previewLeave');
    const body = BODIES_409[operation.operationId];
    if (body !== undefined) return send(operation, addressOf(operation, known), proofOf(operation, key), body);
    const entityId = 'CVR-3-4000000009';
    await app.store.write(async (tx) => {
      await beginErasure(tx, { entities: [entityId], names: [] }, '', Date.now());
      await tx.updateTable('run').set({ state: 'cancelled' }).execute();
    });
    return send(operation, addressOf(operation, known), proofOf(operation, key), { entityId });
  },
  async 413(operation) {
    const { key, known } = await layFor(operation, USUAL_SCOPES);
    return send(operation, addressOf(operation, known), proofOf(operation, key), `"${'x'.repeat(5 * 1024 * 1024)}"`);
  },
  async 414(operation) {
    const { key, known } = await layFor(operation, USUAL_SCOPES);
    const long = 'x'.repeat(501);
    const address = addressOf(operation, {
      ...known,
      Provider: long,
      JobId: long,
      id: long,
      seq: long,
      run: long,
      name: long,
    });
    return send(operation, address, proofOf(operation, key), operation.body?.example);
  },
  async 415(operation) {
    const { key, known } = await layFor(operation, USUAL_SCOPES);
    // Of a body that nobody asked for, any type will do.
    const type = operation.body === undefined ? 'nonsense' : 'text/csv';
    const headers = { ...proofOf(operation, key), 'content-type': type };
    return fetch(operation.base + addressOf(operation, known), { method: operation.method, headers, body: 'a;b' });
  },
  async 422(operation) {
    const { key, known } = await layFor(operation, USUAL_SCOPES);
    const wrong = {
      take: '0',
      limit: '0',
      entityId: 'none',
      url: 'none',
      from: 'none',
      seq: '0',
      run: '0',
      task: 'none',
      state: 'none',
      replay: 'none',
      keepJobs: 'none',
      provider: 'a\nb',
      language: 'none',
    };
    const address = addressOf(operation, { ...known, ...wrong });
    const body = operation.body === undefined ? undefined : { nothing: 'known' };
    return send(operation, address, proofOf(operation, key), body);
  },
  async 429(operation) {
    const { key, known } = await layFor(operation, [...USUAL_SCOPES, 'admin']);
    const proof = isAdminRoute(operation) ? { authorization: `Bearer ${key}` } : { 'x-access-key': key };
    const address = addressOf(operation, { ...known, id: 'nobody', seq: '1', run: '1' });
    const call = () => send(operation, address, proof, operation.body?.example);
    await Promise.all(Array.from({ length: CALLS }, async () => (await call()).body?.cancel()));
    return call();
  },
  '4XX': (operation) => send(operation, operation.path, { 'x-long': 'x'.repeat(20_000) }),
};

const mark = (address: string): string => (address.includes('?') ? '&' : '?');

describe('a documented refusal', () => {
  const cases = named.flatMap((operation) =>
    Object.keys(operation.responses)
      .filter((status) => status.startsWith('4'))
      .map((status) => ({ ...operation, status })),
  );

  it.each(cases)('occurs: $status of $name', async ({ status, ...operation }) => {
    const refuse = REFUSED[status];
    expect(refuse, `nobody knows how ${status} comes about`).toBeDefined();
    const answer = await refuse?.(operation);
    const given = answer === undefined ? 0 : await documented(operation, answer);
    expect(String(given)).toMatch(new RegExp(`^${status.replace('XX', '\\d\\d')}$`));
  });
});
