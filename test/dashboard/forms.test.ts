/** Forms: only our own count, only of those who may, and nothing that was filled in is lost. */
import { describe, expect, it } from 'vitest';
import { IDLE_MS } from '../../src/runtime/operators/sessions.ts';
import { startPages } from './visitor.ts';

const ours = { 'sec-fetch-site': 'same-origin' };

describe('a form', () => {
  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of a neighbour on the domain', { 'sec-fetch-site': 'same-site' }],
    ['whose origin is another one', { origin: 'http://evil.example.com' }],
    ['whose origin is hidden', { origin: 'null' }],
    ['without any origin', {}],
  ])('%s does nothing', async (_what, headers: Record<string, string>) => {
    const { signedIn } = await startPages();
    const ida = await signedIn('admin');
    await ida.get('/');
    expect((await ida.post('/logout', {}, headers)).status).toBe(403);
    expect((await ida.get('/')).status).toBe(200);
    expect((await ida.post('/login', { token: 'x' }, headers)).status).toBe(403);
  });

  it('is shown for confirmation with its action, answer and subject in words', async () => {
    const { signedIn } = await startPages();
    const ida = await signedIn('admin');
    await ida.get('/');
    const id = 'difference/hubspot/1/name';
    const shown = await ida.post('/inbox/answers', {
      _form: 'guessed',
      verb: 'keep-difference',
      choice: `JoxboTDTqg-Ew5Bm ${id}`,
      back: '/inbox?kind=difference',
      reason: 'because',
    });
    const rows = [...shown.text.matchAll(/<th scope="row">(.*?)<\/th><td>(.*?)<\/td>/gu)].map(([, ...pair]) => pair);
    expect(rows).toEqual([
      ['Page', 'Inbox'],
      ['Answer', 'Keep, and hold without an end'],
      ['What', id],
      ['reason', 'because'],
    ]);
    expect(shown.text).toContain(`name="choice" value="JoxboTDTqg-Ew5Bm ${id}"`);
  });

  it('of our own page is accepted by its origin if the browser sends nothing else', async () => {
    const { signedIn, base } = await startPages();
    const ida = await signedIn('admin');
    await ida.get('/');
    expect((await ida.post('/logout', {}, { origin: base })).status).toBe(303);
  });

  it('without its token is shown for confirmation, and has no effect before', async () => {
    const { signedIn } = await startPages();
    const ida = await signedIn('admin');
    await ida.get('/');
    const shown = await ida.post('/logout', { _form: 'guessed' });
    expect(shown.status).toBe(403);
    expect(shown.text).toContain('Confirm what you were about to do');
    expect((await ida.get('/')).status).toBe(200);
  });

  it('wakes the workers only after it succeeded', async () => {
    let woken = 0;
    const { signedIn } = await startPages({ wake: () => void woken++ });
    const ida = await signedIn('operator');
    await ida.get('/sessions');
    await ida.post('/sessions/end', { session: 'none', _form: 'guessed' });
    expect(woken).toBe(0);
    await ida.post('/sessions/end', { session: 'none' });
    expect(woken).toBe(1);
  });

  it('survives the end of its session: after a sign-in it is shown with all its fields, and done on confirmation', async () => {
    let now = Date.parse('2026-03-01T08:00:00Z');
    const { visitor, operator, store } = await startPages({ now: () => now });
    const token = await operator('Ida', 'viewer');
    const [ida, other] = [visitor(), visitor()];
    await ida.signIn(token);
    await ida.get('/sessions');
    now += IDLE_MS + 1;
    await other.signIn(token);
    const [session] = await store.db.selectFrom('session').select('hash').where('created_at', '=', now).execute();
    const asked = await ida.post('/sessions/end', { session: session?.hash ?? '', 'reason "why"': '<b>Ærø & Co</b>' });
    expect(asked.status).toBe(401);
    expect(asked.text).toContain('what you filled in is kept');
    const kept =
      /name="kept" value="([^"]*)"/
        .exec(asked.text)?.[1]
        ?.replaceAll('&quot;', '"')
        .replaceAll('&lt;', '<')
        .replaceAll('&amp;', '&') ?? '';
    const again = await ida.post('/login', { token, next: '/sessions/end', kept }, ours);
    expect(again.status).toBe(200);
    expect(again.text).toContain('action="/sessions/end"');
    expect(again.text).toContain('&lt;b>Ærø &amp; Co&lt;/b>');
    expect((await other.get('/')).status).toBe(200);
    const done = await ida.post('/sessions/end', { session: session?.hash ?? '' });
    expect(done.headers['location']).toBe('/sessions');
    expect((await other.get('/')).status).toBe(303);
  });
});
