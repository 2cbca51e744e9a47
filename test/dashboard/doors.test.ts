/** Who asks is decided before a form is read, forms are bounded, and nothing of strangers comes back. */
import { once } from 'node:events';
import { request as ask } from 'node:http';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { IDLE_MS } from '../../src/runtime/operators/sessions.ts';
import { startPages, type Visitor } from './visitor.ts';

const OURS = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
const FLOOD = 'a=&'.repeat(333_333);

/** The status of the answer to a post whose body never comes. */
async function withoutBody(base: string, path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const post = ask(base + path, { method: 'POST', headers: { ...OURS, ...headers, 'content-length': '1000000' } });
  post.flushHeaders();
  const [answer] = await once(post, 'response');
  post.on('error', () => undefined).destroy();
  return answer.statusCode;
}

const cookieOf = ({ cookies }: Visitor): string => [...cookies].map((pair) => pair.join('=')).join('; ');

describe('before a form is read', () => {
  // By halves: who fails more than twenty times waits for the answer.
  it.each([0, 1])('strangers and people without the role get their answer: half %s of the routes', async (half) => {
    const { base, posts, signedIn, admin } = await startPages();
    const [viewer, somebody] = [cookieOf(await signedIn('viewer')), cookieOf(await admin())];
    const routes = posts.filter((path) => !/^\/(?:log(?:in|out)|sessions)\b/.test(path));
    expect(routes.length).toBeGreaterThan(25);
    const actions = routes.filter((_path, index) => index % 2 === half);
    const asked = actions.map(async (path) => {
      const where = path.replaceAll(/:\w+/g, 'x');
      expect(await withoutBody(base, where, {}), path).toBe(401);
      expect(await withoutBody(base, where, { cookie: viewer }), path).toBe(403);
      const file = { 'content-type': 'multipart/form-data; boundary=x' };
      expect(await withoutBody(base, where, { ...file, cookie: viewer }), path).toBe(403);
      expect(await withoutBody(base, where, { 'sec-fetch-site': 'cross-site', cookie: somebody }), path).toBe(403);
    });
    await Promise.all(asked);
    for (const path of ['/nothing', '/assets/x', '/admin/api/nothing', '/live'])
      expect(await withoutBody(base, path, {}), path).toBeGreaterThanOrEqual(404);
  });
});

describe('a form of a stranger', () => {
  it('is neither returned nor stored', async () => {
    const { visitor, store } = await startPages();
    const kept = JSON.stringify([['a', 'MARK']]);
    for (const path of ['/keys', '/inbox/answers', '/login', '/logout']) {
      const stranger = visitor();
      await stranger.get('/login');
      stranger.cookies.set('cvrsync_session', 'x'.repeat(43));
      const { status, text } = await stranger.post(path, { 'MARK name': 'MARK', kept, token: 'MARK' });
      expect([status, text.includes('MARK')], path).toEqual([401, false]);
      expect((await stranger.post(path, { kept: 'MARK'.repeat(4_000) })).text, path).not.toContain('MARK');
    }
    expect(await store.db.selectFrom('sign_on').selectAll().execute()).toEqual([]);
  });

  it('costs next to nothing, though 40 send a megabyte of fields at once', async () => {
    const { base } = await startPages();
    const began = process.cpuUsage();
    const post = async (_each: unknown, index: number) => {
      const path = index % 2 === 0 ? '/login' : '/keys';
      const { status, text } = await request(base + path, { method: 'POST', headers: OURS, body: FLOOD }).then(
        async ({ statusCode, body }) => ({ status: statusCode, text: await body.text() }),
      );
      expect([401, 413, 429]).toContain(status);
      expect(text.length).toBeLessThan(10_000);
    };
    await Promise.all(Array.from({ length: 40 }, post));
    // One such form took 2.4 s before, and had an answer of 9 MB.
    expect(process.cpuUsage(began).user).toBeLessThan(5_000_000);
  });

  it('is kept for a day after its session expired', async () => {
    let now = Date.parse('2026-03-01T08:00:00Z');
    const pages = await startPages({ now: () => now });
    const ida = await pages.signedIn('operator');
    now += IDLE_MS + 1;
    expect((await ida.post('/inbox/answers', { reason: 'because' })).text).toContain('because');
    await ida.get('/login');
    expect((await ida.post('/login', { kept: JSON.stringify([['reason', 'because']]) })).text).toContain('because');
  });
});

describe('a form of an operator', () => {
  it('has no more bytes and fields than its route allows, and no unexpected file', async () => {
    const { base, signedIn } = await startPages();
    const ida = await signedIn('operator');
    await ida.get('/');
    const post = async (path: string, body: string) => {
      const answer = await fetch(base + path, { method: 'POST', headers: { ...OURS, cookie: cookieOf(ida) }, body });
      return { status: answer.status, text: await answer.text() };
    };
    const fields = await post('/inbox/answers', FLOOD.slice(0, 200_000));
    expect([fields.status, fields.text]).toEqual([413, expect.stringContaining('250 kB and 1,000 fields')]);
    expect((await post('/inbox/answers', `a=${'x'.repeat(300_000)}`)).status).toBe(413);
    expect((await ida.upload('/inbox/answers', {}, 'a;b')).status).toBe(415);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`a${n}`, '']));
    expect((await ida.upload('/inbox/upload', many, 'a;b')).status).toBe(413);
    const json = { ...OURS, 'content-type': 'application/json', cookie: cookieOf(ida) };
    expect((await fetch(`${base}/inbox/answers`, { method: 'POST', headers: json, body: '{}' })).status).toBe(415);
  });

  it('is one of 240 in a minute, over all addresses', async () => {
    const { visitor, operator } = await startPages();
    const [ida, bo] = [visitor(), visitor()];
    const token = await operator('Ida', 'operator');
    await ida.signIn(token);
    await bo.signIn(await operator('Bo', 'operator'));
    await bo.get('/sessions');
    const posts = await Promise.all(
      Array.from({ length: 241 }, () => ida.post('/sessions/end', { session: 'none', _form: 'guessed' })),
    );
    const refused = posts.filter(({ status }) => status === 429);
    expect([refused.length, Number(refused[0]?.headers['retry-after'])]).toEqual([1, expect.any(Number)]);
    expect((await bo.post('/sessions/end', { session: 'none' })).status).toBe(303);
  });
});
