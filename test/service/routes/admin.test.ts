/** Only the proof in a request decides who may administer. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { converse } from '../../support/sockets.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { type Harness, openHarness } from './harness.ts';

const TOKEN = 'a-token-of-some-length';
const MONITORS = '/admin/api/monitors';
const KEYS = '/admin/api/keys';

/** As a program of this machine sends it that adds nothing by itself, and names what host it likes. */
const raw = (harness: Harness, headers: Record<string, string>, method = 'GET', path = MONITORS): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: harness.port, method, path, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on('error', reject).end(method === 'POST' ? '{"name":"Stranger","scopes":["admin"]}' : undefined);
  });

describe.each(SUITE_ENGINES)('the audit on %s', (engine) => {
  it('records changes by programs with actor, action, target and result, but no reads, refusals or strangers', async () => {
    const harness = await openHarness(engine, { adminToken: TOKEN });
    const authorization = `Bearer ${TOKEN}`;
    const body = { name: 'Nordlys', scopes: ['admin'] };
    const made = await harness.call('POST', KEYS, { headers: { authorization }, body });
    const { id, key: secret }: { id: string; key: string } = JSON.parse(made.text);
    const key = { authorization: `Bearer ${secret}` };
    expect((await harness.call('DELETE', `${MONITORS}/none`, { headers: key })).status).toBe(404);
    await harness.call('DELETE', `${MONITORS}/%00`, { headers: key });
    await harness.call('GET', MONITORS, { headers: key });
    await harness.call('POST', KEYS, { headers: { authorization: 'Bearer wrong' }, body });
    expect((await harness.call('DELETE', `${KEYS}/${id}`, { headers: key })).status).toBe(204);
    const entries = await readAudit(harness.store.db, {}, 10);
    expect(
      entries.map(({ actor, via, action, subject, result }) => [actor.name, via, action, subject, result]),
    ).toEqual([
      [id, 'api', 'key.revoke', id, 'revoked; 0 jobs switched off'],
      ['the admin token', 'api', 'key.create', id, 'created'],
    ]);
    expect(JSON.stringify(entries)).not.toContain(secret);
  });
});

describe('with a token', () => {
  it.each([
    ['a wrong one', 'Bearer another-token-of-length'],
    ['the beginning of it', `Bearer ${TOKEN.slice(0, -1)}`],
    ['more than it', `Bearer ${TOKEN}x`],
    ['another scheme', `Basic ${Buffer.from(`admin:${TOKEN}`).toString('base64')}`],
    ['it in another case', `Bearer ${TOKEN.toUpperCase()}`],
    ['nothing after the scheme', 'Bearer '],
    ['nothing', ''],
  ])('administration refuses %s, even from this machine', async (_what, authorization) => {
    const harness = await openHarness('sqlite', { adminToken: TOKEN });
    const answer = await harness.call('GET', MONITORS, { headers: { authorization } });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ httpStatusCode: 401, errorCode: 401 });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.text).not.toContain(TOKEN);
  });

  it.each([`Bearer ${TOKEN}`, `bearer  ${TOKEN}`])('administration is allowed: %s', async (authorization) => {
    const harness = await openHarness('sqlite', { adminToken: TOKEN });
    expect((await harness.call('GET', MONITORS, { headers: { authorization } })).status).toBe(200);
    expect(
      (await harness.call('GET', MONITORS, { headers: { authorization, 'x-forwarded-for': '192.0.2.1' } })).status,
    ).toBe(200);
  });

  it('is no access key, and an access key is no token unless it has the scope admin', async () => {
    const harness = await openHarness('sqlite', { adminToken: TOKEN });
    const usual = await harness.key();
    const admin = await harness.key(['admin']);
    const status = async (key: string) =>
      (await harness.call('GET', MONITORS, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status(usual.key)).toBe(403);
    expect(await status(admin.key)).toBe(200);
    expect(await raw(harness, {}, 'GET', `${MONITORS}?accesskey=${admin.key}`)).toBe(401);
    expect((await harness.call('GET', `/apps/monitoring/jobs?accesskey=${TOKEN}`)).status).toBe(401);
  });
});

describe.each([
  ['with a token', TOKEN],
  ['where there is no token', undefined],
])(
  '%s the admin API does not fail open: nothing about a request from this machine proves anything',
  (_, adminToken) => {
    it.each([
      ['straight from here', {}],
      ['as a proxy passes on that adds nothing, with HTTP/1.1', { host: 'cvr.example.com' }],
      ['as HAProxy passes on', { host: 'cvr.example.com', 'accept-encoding': 'gzip' }],
      ['as nginx with HTTP/1.1 passes on', { host: '127.0.0.1:8081', connection: 'close' }],
      ['under the name of this machine', { host: 'localhost' }],
      ['from a page of our own origin', { origin: 'http://127.0.0.1', host: '127.0.0.1' }],
      ['without a right token', { authorization: 'Bearer undefined' }],
    ])('no admin key is created %s', async (_what, headers) => {
      const harness = await openHarness('sqlite', { adminToken });
      const json = { 'content-type': 'application/json', ...headers };
      expect(await raw(harness, json, 'POST', KEYS)).toBe(401);
      expect(await raw(harness, headers)).toBe(401);
      expect(await harness.store.db.selectFrom('api_key').selectAll().execute()).toEqual([]);
    });

    it('an older HTTP version proves nothing either', async () => {
      const harness = await openHarness('sqlite', { adminToken });
      const said = await converse(harness.port, `GET ${MONITORS} HTTP/1.0\r\nHost: 127.0.0.1:${harness.port}\r\n\r\n`);
      expect(said).toMatch(/^HTTP\/1.1 401 /);
    });

    it('an API key of scope admin is accepted', async () => {
      const harness = await openHarness('sqlite', { adminToken });
      const { key } = await harness.key(['admin']);
      expect(await raw(harness, { authorization: `Bearer ${key}` })).toBe(200);
    });
  },
);
