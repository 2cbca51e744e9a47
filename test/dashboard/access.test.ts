/** Who gets in, how, and for how long. */
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { listOperators, revokeOperator } from '../../src/runtime/operators/operators.ts';
import {
  createFirstLink,
  createLoginLink,
  deleteEndedSessions,
  IDLE_MS,
  LONGEST_MS,
} from '../../src/runtime/operators/sessions.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { startPages } from './visitor.ts';

const HOUR_MS = 3_600_000;

const KINDS_OF_PROXIES = [
  ['nobody between, at localhost', { host: 'localhost:8081' }],
  ['nobody between, by another name', { host: 'evil.example.com' }],
  ['a proxy that keeps Host', { host: 'localhost', 'x-forwarded-proto': 'https' }],
  ['nginx with its default headers', { host: '127.0.0.1:8081', connection: 'close' }],
  ['a proxy that says for whom', { 'x-forwarded-for': '127.0.0.1' }],
  ['a forwarder of TCP', {}],
] as const;

describe('without operators', () => {
  it.each(KINDS_OF_PROXIES)('nobody gets in without a sign-in: %s', async (_what, headers) => {
    const { visitor, store } = await startPages();
    const page = await visitor().get('/keys', headers);
    expect([page.status, page.headers['location']]).toEqual([303, '/login?next=%2Fkeys']);
    const form = { name: 'mine', scopes: 'admin' };
    expect((await visitor().post('/keys', form, { 'sec-fetch-site': 'same-origin', ...headers })).status).toBe(401);
    expect(await store.db.selectFrom('api_key').selectAll().execute()).toEqual([]);
  });
});

describe.each(SUITE_ENGINES)('the link of the first start on %s', (engine) => {
  it('creates the first operator once', async () => {
    const { base, visitor, store } = await startPages({ engine });
    const [link, other] = await store.write(async (tx) => [
      await createFirstLink(tx, Date.now()),
      await createFirstLink(tx, Date.now()),
    ]);
    const first = visitor();
    await fetch(`${base}/login/${link}`, { method: 'HEAD' });
    expect((await first.get(`/login/${link}`)).headers['refresh']).toBe('0;url=/');
    expect((await first.get('/keys')).status).toBe(200);
    for (const late of [link, other]) expect((await visitor().get(`/login/${late}`)).status).toBe(401);
    expect(await store.write((tx) => createFirstLink(tx, Date.now()))).toBeUndefined();
    expect(await listOperators(store.db)).toMatchObject([{ name: 'admin', role: 'admin' }]);
    expect(await readAudit(store.db, { action: 'operator.create' }, 5)).toMatchObject([{ via: 'page' }]);
  });

  it('creates nobody after 15 minutes, or if an operator exists', async () => {
    let now = Date.parse('2026-03-01T08:00:00Z');
    const { visitor, operator, store } = await startPages({ engine, now: () => now });
    const old = await store.write((tx) => createFirstLink(tx, now));
    now += 15 * 60_000;
    expect((await visitor().get(`/login/${old}`)).status).toBe(401);
    const link = await store.write((tx) => createFirstLink(tx, now));
    await operator('Ida', 'viewer');
    await store.write((tx) => revokeOperator(tx, 'Ida', now));
    expect((await visitor().get(`/login/${link}`)).status).toBe(401);
    expect((await visitor().get('/')).status).toBe(303);
  });
});

describe.each(SUITE_ENGINES)('signing in on %s', (engine) => {
  it('accepts a token once, and continues with a cookie that is hidden from scripts and other sites', async () => {
    const { visitor, operator, store } = await startPages({ engine });
    const token = await operator('Ida', 'viewer');
    const ida = visitor();
    const asked = await ida.get('/sessions');
    expect([asked.status, asked.headers['location']]).toEqual([303, '/login?next=%2Fsessions']);
    const answer = await ida.signIn(token);
    expect([answer.status, answer.headers['location']]).toEqual([303, '/']);
    const set = [answer.headers['set-cookie'] ?? []]
      .flat()
      .find((line) => /^cvrsync_session=\S/.test(line) && !/=;/.test(line));
    expect(set).toMatch(/HttpOnly/);
    expect(set).toMatch(/SameSite=Strict/);
    expect(set).not.toMatch(/Secure/);
    const { text } = await ida.get('/sessions');
    expect(text).toContain('Ida');
    expect(text).not.toContain(token);
    expect(await readAudit(store.db, {}, 10)).toMatchObject([
      { actor: { kind: 'operator', name: 'Ida' }, via: 'page', action: 'session.start' },
    ]);
  });

  it('ends after 8 hours without use, and after 7 days in any case', async () => {
    let now = Date.parse('2026-03-01T08:00:00Z');
    const pages = await startPages({ engine, now: () => now });
    const ida = await pages.signedIn('viewer');
    const at = now;
    for (now += 7 * HOUR_MS; now < at + LONGEST_MS; now += 7 * HOUR_MS)
      expect((await ida.get('/')).status, new Date(now).toISOString()).toBe(200);
    now = at + LONGEST_MS + 1;
    expect((await ida.get('/')).status).toBe(303);
    const bo = pages.visitor();
    await bo.signIn(await pages.operator('Bo', 'viewer'));
    now += IDLE_MS + 1;
    expect((await bo.get('/')).status).toBe(303);
    // Its forms are kept for a day.
    await pages.store.write((tx) => deleteEndedSessions(tx, now + 24 * HOUR_MS));
    expect(await pages.store.db.selectFrom('session').selectAll().execute()).toEqual([]);
  });

  it('is not extended by a page that refreshes itself', async () => {
    let now = Date.parse('2026-03-01T08:00:00Z');
    const pages = await startPages({ engine, now: () => now });
    const ida = await pages.signedIn('viewer');
    const refresh = { 'x-cvrsync-refresh': '1' };
    for (let hours = 1; hours < 8; hours += 1) {
      now += HOUR_MS;
      expect((await ida.get('/', refresh)).status).toBe(200);
    }
    now += HOUR_MS;
    expect((await ida.get('/', refresh)).status).toBe(303);
  });

  it('ends at once when the operator is revoked, and is still required', async () => {
    const { signedIn, store, visitor } = await startPages({ engine });
    const ida = await signedIn('admin');
    await store.write((tx) => revokeOperator(tx, 'the admin', Date.now()));
    expect((await ida.get('/')).status).toBe(303);
    expect((await visitor().get('/')).status).toBe(303);
  });

  it('works once by a link, and never after it was revoked', async () => {
    const { visitor, operator, store } = await startPages({ engine });
    await operator('Demo', 'admin');
    const link = await store.write((tx) => createLoginLink(tx, 'Demo', Date.now()));
    const first = visitor();
    expect((await first.get(`/login/${link}`)).headers['refresh']).toBe('0;url=/');
    expect((await first.get('/')).status).toBe(200);
    const second = await visitor().get(`/login/${link}`);
    expect(second.status).toBe(401);
    expect(second.text).toContain('used already');
    const later = await store.write((tx) => createLoginLink(tx, 'Demo', Date.now() - HOUR_MS));
    expect((await visitor().get(`/login/${later}`)).status).toBe(401);
  });
});

describe('a session', () => {
  it('has a cookie that browsers isolate behind TLS', async () => {
    const { visitor, operator } = await startPages();
    const token = await operator('Ida', 'viewer');
    const ida = visitor();
    const tls = { 'x-forwarded-proto': 'https', 'sec-fetch-site': 'same-origin' };
    await ida.get('/login', tls);
    const answer = await ida.post('/login', { token }, tls);
    const set = [answer.headers['set-cookie'] ?? []].flat().filter((line) => /^__Host-cvrsync_session=\S/.test(line));
    expect(set.at(-1)).toMatch(/; Secure/);
    expect((await ida.get('/', tls)).status).toBe(200);
  });

  it('is listed with the others of its operator, and ends from there', async () => {
    const { visitor, operator, store } = await startPages();
    const token = await operator('Ida', 'viewer');
    const [here, there, other] = [visitor(), visitor(), visitor()];
    for (const one of [here, there]) await one.signIn(token);
    await other.signIn(await operator('Bo', 'viewer'));
    const { text } = await here.get('/sessions');
    const hashes = [...text.matchAll(/name="session" value="([^"]+)"/g)].map(([, hash = '']) => hash);
    expect(hashes).toHaveLength(2);
    const foreign = await store.db.selectFrom('session').select('hash').where('operator', '=', 'Bo').execute();
    await here.post('/sessions/end', { session: foreign[0]?.hash ?? '' });
    expect((await other.get('/')).status).toBe(200);
    for (const session of hashes) await here.post('/sessions/end', { session });
    expect((await there.get('/')).status).toBe(303);
    expect((await here.get('/')).status).toBe(303);
  });

  it('replaces the token of its operator, except for operators of single sign-on', async () => {
    const { visitor, operator, store } = await startPages();
    const former = await operator('Ida', 'viewer');
    const ida = visitor();
    await ida.signIn(former);
    await ida.get('/sessions');
    const made = await ida.post('/sessions/token', {});
    expect(made.text).toContain('no page shows it again');
    const [token = ''] = /cvrsync_operator_[\w-]{43}/u.exec(made.text) ?? [];
    const signsIn = async (by: string): Promise<boolean> => {
      const one = visitor();
      await one.signIn(by);
      return (await one.get('/')).status === 200;
    };
    expect([await signsIn(token), await signsIn(former)]).toEqual([true, false]);
    const [entry] = await readAudit(store.db, { action: 'operator.token' }, 2);
    expect(entry).toMatchObject({ subject: 'Ida', via: 'page' });
    expect(JSON.stringify(entry)).not.toContain(token);
    await store.write((tx) => tx.updateTable('operator').set({ subject: 'ida@issuer' }).execute());
    expect((await ida.get('/sessions')).text).not.toContain('/sessions/token');
    const refused = await ida.post('/sessions/token', {});
    expect([refused.status, refused.headers['location']]).toEqual([303, '/sessions']);
    expect(await signsIn(token)).toBe(true);
  });

  it('ends by signing out', async () => {
    const { signedIn } = await startPages();
    const ida = await signedIn('viewer');
    await ida.get('/');
    const cookies = new Map(ida.cookies);
    expect((await ida.post('/logout', {})).headers['location']).toBe('/login');
    for (const [name, value] of cookies) ida.cookies.set(name, value);
    expect((await ida.get('/')).status).toBe(303);
  });

  it('is refused for a wrong token, and redirects only to our own pages', async () => {
    const { visitor, operator } = await startPages();
    const token = await operator('Ida', 'viewer');
    const ida = visitor();
    const wrong = await ida.signIn(`${token.slice(0, -1)}x`);
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('not the token of an active operator');
    for (const next of ['//evil.example.com', 'https://evil.example.com/', '/\\evil.example.com', '/logout']) {
      const someone = visitor();
      await someone.get('/login');
      expect((await someone.post('/login', { token, next })).headers['location'], next).toBe('/');
    }
  });

  it('accepts a valid token or link after many bad ones from the same address, which are delayed after ten', async () => {
    const { visitor, operator, store, logged } = await startPages();
    const token = await operator('Ida', 'viewer');
    const stranger = visitor();
    await stranger.get('/login');
    const tries = Array.from({ length: 30 }, (_, n) =>
      n % 2 === 0 ? stranger.post('/login', { token: 'wrong' }) : stranger.get(`/login/${'x'.repeat(43)}`),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array(10).fill(401), ...Array(20).fill(429)]);
    const refused = await stranger.post('/login', { token: 'wrong' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.text).toContain('Wait a minute');
    expect((await visitor().signIn(token)).headers['location']).toBe('/');
    const link = await store.write((tx) => createLoginLink(tx, 'Ida', Date.now()));
    expect((await visitor().get(`/login/${link}`)).status).toBe(200);
    // Noted once a minute and client.
    expect(await readAudit(store.db, { action: 'session.refuse' }, 50)).toMatchObject([
      { actor: { kind: 'stranger', name: '127.0.0.1' }, via: 'page' },
    ]);
    expect(logged).toEqual([expect.stringMatching(/"from":"127\.0\.0\.1".*a sign-in failed/)]);
  });

  it.each([
    ['the client behind a proxy that is trusted', ['127.0.0.0/8'], 401],
    ['the proxy that nobody trusts', [], 429],
  ])('counts bad ones of %s', async (_whom, trustProxy: readonly string[], status) => {
    const { visitor, store } = await startPages({ trustProxy });
    const wrong = async (client: string) => {
      const headers = { 'x-forwarded-for': `198.51.100.1, ${client}`, 'sec-fetch-site': 'same-origin' };
      return (await visitor().post('/login', { token: 'wrong' }, headers)).status;
    };
    const first = await Promise.all(Array.from({ length: 11 }, () => wrong('203.0.113.9')));
    expect(first.filter((each) => each === 429)).toHaveLength(1);
    expect(await wrong('203.0.113.10')).toBe(status);
    const names = (await readAudit(store.db, {}, 50)).map(({ actor }) => actor.name);
    expect(names.toSorted()).toEqual(trustProxy.length === 0 ? ['127.0.0.1'] : ['203.0.113.10', '203.0.113.9']);
  });
});
