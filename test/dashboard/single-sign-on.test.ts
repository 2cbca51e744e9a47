/** Signing in through an issuer: who gets in, as whom, and what of forged and worn-out answers. */
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { allowOperator, listOperators, revokeOperator } from '../../src/runtime/operators/operators.ts';
import { createLoginLink } from '../../src/runtime/operators/sessions.ts';
import { ALL } from '../support/all.ts';
import { useBrowser } from './browser.ts';
import { startSignOn } from './issuer.ts';

const IDA = { email: 'ida@example.com', groups: ['everybody', 'crm-operators', 'crm'] };
const HOUR_MS = 3_600_000;

describe('single sign-on', () => {
  it('makes an operator of whom the issuer names, with the highest role that the claim gives', async () => {
    const { people, visitor, leave, signInThere, store } = await startSignOn();
    people['ida'] = IDA;
    const ida = visitor();
    const answer = await ida.get(await signInThere(await leave(ida, '/sessions'), 'ida'));
    expect([answer.status, answer.headers['refresh']]).toEqual([200, '0;url=/sessions']);
    expect((await ida.get('/sessions')).text).toContain('ida@example.com');
    expect(await listOperators(store.db)).toMatchObject([{ name: 'ida@example.com', role: 'operator' }]);
    expect(await readAudit(store.db, {}, 10)).toMatchObject([
      { actor: { kind: 'operator', name: 'ida@example.com' }, action: 'session.start' },
    ]);
  });

  it('lasts 12 hours at most, however much it is used', async () => {
    const clock = { offset: 0 };
    const { people, visitor, leave, signInThere } = await startSignOn({ now: () => Date.now() + clock.offset });
    people['ida'] = IDA;
    const ida = visitor();
    await ida.get(await signInThere(await leave(ida), 'ida'));
    for (clock.offset = 4 * HOUR_MS; clock.offset < 12 * HOUR_MS; clock.offset += 4 * HOUR_MS - 60_000)
      expect((await ida.get('/')).status).toBe(200);
    clock.offset = 12 * HOUR_MS + 60_000;
    expect((await ida.get('/')).status).toBe(303);
  });

  it('follows the role that the issuer gives at each sign-in', async () => {
    const { people, visitor, leave, signInThere, store } = await startSignOn();
    people['ida'] = IDA;
    const ida = visitor();
    await ida.get(await signInThere(await leave(ida), 'ida'));
    people['ida'] = { email: 'ida@new.example.com', groups: 'crm' };
    await ida.get(await signInThere(await leave(visitor()), 'ida'));
    const again = visitor();
    await again.get(await signInThere(await leave(again), 'ida'));
    expect(await listOperators(store.db)).toMatchObject([{ name: 'ida@example.com', role: 'viewer' }]);
  });

  it('refuses whom the claim gives no role, says what is missing, and ends their sessions', async () => {
    const { people, visitor, leave, signInThere } = await startSignOn();
    people['ida'] = IDA;
    const ida = visitor();
    await ida.get(await signInThere(await leave(ida), 'ida'));
    people['ida'] = { ...IDA, groups: ['everybody', '<b>cooks</b>'] };
    const elsewhere = visitor();
    const { status, text } = await elsewhere.get(await signInThere(await leave(elsewhere), 'ida'));
    expect(status).toBe(403);
    for (const part of ['ida@example.com', 'crm-operators', 'everybody, &lt;b>cooks']) expect(text).toContain(part);
    expect((await ida.get('/')).status).toBe(303);
    expect((await elsewhere.get('/')).status).toBe(303);
  });

  it('gives nobody the name and rights of an operator who exists', async () => {
    const { people, visitor, leave, signInThere, store, operator } = await startSignOn();
    await operator('ida@example.com', 'admin');
    people['mallory'] = { ...IDA, groups: ['crm'] };
    const mallory = visitor();
    await mallory.get(await signInThere(await leave(mallory), 'mallory'));
    const operators = (await listOperators(store.db)).map(({ name, role }) => [name, role]);
    expect(operators).toHaveLength(2);
    expect(operators[0]).toEqual(['ida@example.com', 'admin']);
    expect(operators[1]).toEqual([expect.stringMatching(/^ida@example\.com \(http.* mallory\)$/), 'viewer']);
  });

  it.each([false, 'false', 'FALSE', 'no'])('does not call people by an address whose proof is %j', async (proof) => {
    const { people, visitor, leave, signInThere, store } = await startSignOn();
    people['ida'] = { ...IDA, email_verified: proof };
    const ida = visitor();
    await ida.get(await signInThere(await leave(ida), 'ida'));
    expect(await listOperators(store.db)).toMatchObject([{ name: 'ida' }]);
  });

  it('lets nobody back in who was revoked here, also under a name that is given to another, until they are allowed', async () => {
    const { people, visitor, leave, signInThere, store, operator } = await startSignOn();
    people['ida'] = IDA;
    const ida = visitor();
    const comeBack = async () => ida.get(await signInThere(await leave(ida), 'ida'));
    const operators = async () =>
      (await listOperators(store.db)).map(({ name, role, revokedAt }) => [name, role, revokedAt === null]);
    await comeBack();
    await store.write((tx) => revokeOperator(tx, 'ida@example.com', Date.now()));
    expect((await ida.get('/')).status).toBe(303);
    const again = await comeBack();
    expect([again.status, again.text.includes('was revoked here')]).toEqual([403, true]);

    await operator('ida@example.com', 'admin');
    const still = await comeBack();
    expect(still.status).toBe(403);
    const [, name = ''] = /operators allow &quot;([^&]+)&quot;/.exec(still.text) ?? [];
    expect(name).toMatch(/^ida@example\.com \(http.* ida\)$/);
    expect(await operators()).toEqual([
      ['ida@example.com', 'admin', true],
      [name, 'operator', false],
    ]);
    expect((await ida.get('/')).status).toBe(303);

    expect(await store.write((tx) => allowOperator(tx, name))).toBe(true);
    await comeBack();
    expect((await ida.get('/')).status).toBe(200);
    expect(await operators()).toContainEqual([name, 'operator', true]);
  });

  it('is needed from the start, also on this machine', async () => {
    const { visitor } = await startSignOn();
    expect((await visitor().get('/')).headers['location']).toBe('/login');
  });
});

describe('an answer of the issuer', () => {
  it('counts in the browser that asked, with its own state, once', async () => {
    const { people, visitor, leave, signInThere } = await startSignOn();
    people['ida'] = IDA;
    const ida = visitor();
    const back = await signInThere(await leave(ida), 'ida');
    const forged = await ida.get(back.replace(/state=[^&]+/, 'state=forged'));
    expect([forged.status, forged.text.includes('was not begun in this browser')]).toEqual([401, true]);
    expect((await visitor().get(back)).status).toBe(401);
    expect((await ida.get(back)).status).toBe(200);
    ida.cookies.delete('cvrsync_session');
    expect((await ida.get(back)).status).toBe(401);
    expect((await ida.get('/')).status).toBe(303);
  });

  it('is refused with the code of another sign-on', async () => {
    const { people, visitor, leave, signInThere } = await startSignOn();
    people['ida'] = IDA;
    const [ida, mallory] = [visitor(), visitor()];
    const stolen = /code=([^&]+)/.exec(await signInThere(await leave(ida), 'ida'))?.[1];
    people['mallory'] = { groups: [] };
    const own = await signInThere(await leave(mallory), 'mallory');
    const { status, text } = await mallory.get(own.replace(/code=[^&]+/, `code=${stolen}`));
    expect([status, text.includes('did not sign you in')]).toEqual([401, true]);
  });

  it.each([
    ['another nonce', { nonce: 'another' }],
    ['another proof of who asked', { verifier: 'x'.repeat(43) }],
  ])('is refused with %s', async (_what, changed) => {
    const { people, visitor, leave, signInThere, store, logged } = await startSignOn();
    people['ida'] = IDA;
    const ida = visitor();
    const back = await signInThere(await leave(ida), 'ida');
    await store.write((tx) => tx.updateTable('sign_on').set(changed).execute());
    const { status, text } = await ida.get(back);
    expect(status).toBe(401);
    expect((await ida.get('/')).status).toBe(303);
    // The reason is in the log, without what opens a door.
    expect(logged).toEqual([
      expect.stringContaining('single sign-on failed'),
      expect.stringContaining('a sign-in failed'),
    ]);
    const code = /code=([^&]+)/.exec(back)?.[1] ?? 'no code';
    for (const secret of [code, 'sesame', 'eyJ']) expect(logged.join() + text).not.toContain(secret);
  });

  it('that refuses is in the log and the audit, with what the issuer said', async () => {
    const { visitor, leave, store, logged } = await startSignOn();
    const ida = visitor();
    const url = new URL(await leave(ida));
    const said = 'error=access_denied&error_description=Ida%0Ais%20on%20leave';
    const state = url.searchParams.get('state') ?? '';
    const iss = encodeURIComponent(url.origin);
    const { status } = await ida.get(`/login/oidc/callback?${said}&state=${state}&iss=${iss}`);
    expect(status).toBe(401);
    expect(logged[0]).toContain('"answer":"access_denied","description":"Ida is on leave"');
    expect(await readAudit(store.db, { action: 'session.refuse' }, 5)).toMatchObject([
      { actor: { kind: 'stranger' }, result: 'the issuer did not sign in: access_denied' },
    ]);
  });

  it('is refused from another issuer', async () => {
    const { people, visitor, leave, signInThere } = await startSignOn();
    people['ida'] = IDA;
    const ida = visitor();
    const back = await signInThere(await leave(ida), 'ida');
    expect((await ida.get(back.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example.com'))).status).toBe(401);
  });

  it('is refused where its token expired, or the sign-on took too long', async () => {
    const clock = { offset: 0 };
    const { people, visitor, leave, signInThere, store } = await startSignOn({ now: () => Date.now() + clock.offset });
    people['ida'] = IDA;
    const late = visitor();
    const backLate = await signInThere(await leave(late), 'ida');
    clock.offset = 11 * 60_000;
    expect((await late.get(backLate)).text).toContain('took more than 10 minutes');
    // From here on, our clock is a day ahead of the issuer's.
    clock.offset = 24 * HOUR_MS;
    const ida = visitor();
    const back = await signInThere(await leave(ida), 'ida');
    await store.write((tx) =>
      tx
        .updateTable('sign_on')
        .set({ ends_at: 2 ** 50 })
        .execute(),
    );
    const { status, text } = await ida.get(back);
    expect([status, text.includes('did not sign you in')]).toEqual([401, true]);
  });
});

describe('an issuer that does not answer', () => {
  it('is told on the sign-in page, and links and tokens still sign in', async () => {
    const { visitor, operator, store, stopIssuer } = await startSignOn();
    await stopIssuer();
    const token = await operator('Bo', 'admin');
    const bo = visitor();
    await bo.get('/login');
    const refused = await bo.post('/login/oidc', { next: '/writes' });
    expect(refused.status).toBe(503);
    expect(refused.text).toContain('does not answer');
    expect(refused.text).toContain('name="next" value="/writes"');
    expect((await bo.signIn(token)).status).toBe(303);
    const link = await store.write((tx) => createLoginLink(tx, 'Bo', Date.now()));
    expect((await visitor().get(`/login/${link}`)).headers['refresh']).toBe('0;url=/');
  });
});

describe('a form that was sent after the session ended', () => {
  it('is shown after the sign-on, and done on confirmation; not where it holds a secret', async () => {
    const { people, visitor, leave, signInThere, store } = await startSignOn();
    people['ida'] = IDA;
    const ida = visitor();
    const sessionEnds = async () => {
      await store.write((tx) => tx.updateTable('session').set({ seen_at: 0 }).execute());
      await ida.get('/login');
    };
    await ida.get(await signInThere(await leave(ida), 'ida'));
    await sessionEnds();
    const kept = JSON.stringify([['session', 'abc']]);
    const { headers } = await ida.post('/login/oidc', { next: '/sessions/end', kept });
    const back = await signInThere(String(headers['refresh']).replace('0;url=', ''), 'ida');
    const { text } = await ida.get(back);
    expect(text).toContain('action="/sessions/end"');
    expect(text).toContain('name="session" value="abc"');
    expect((await ida.post('/sessions/end', { session: 'abc' })).status).toBe(303);
    await sessionEnds();
    await ida.post('/login/oidc', { next: '/monitors/1', kept: JSON.stringify([['secret', 'hush']]) });
    expect(JSON.stringify(await store.db.selectFrom('sign_on').selectAll().execute())).not.toContain('hush');
  });
});

const { open } = useBrowser();

describe.each([true, false])('in a browser, scripts: %s', (script) => {
  // In the suite one of them with scripts, the other one without.
  it.runIf(ALL || script)('a person signs in there, lands where they wanted to, and signs out of both', async () => {
    const { base, people, issuer } = await startSignOn();
    people['ida'] = IDA;
    const { page, expectSound } = await open({ script });
    await page.goto(`${base}/sessions`);
    await expectSound();
    await page.click('form[action="/login/oidc"] button');
    await page.fill('[name=login]', 'ida');
    await page.fill('[name=password]', 'x');
    await page.click('button[type=submit]');
    await page.waitForSelector('input[value=consent]', { state: 'attached' });
    await page.click('button[type=submit]');
    await page.waitForURL(`${base}/sessions`);
    expect(await page.textContent('.account')).toContain('ida@example.com');
    await page.click('.account button');
    await page.waitForURL('**/login?signed-out=1');
    await page.click('[role=status] a');
    await page.waitForURL(`${issuer}/**`);
  });

  it.runIf(ALL || !script)('a link on another site leads to its page where the person is signed in', async () => {
    const { base, people, operator, issuer } = await startSignOn();
    people['ida'] = IDA;
    const token = await operator('Bo', 'viewer');
    const { page } = await open({ script });
    await page.goto(`${base}/login`);
    await page.fill('#token', token);
    await page.click('form[action="/login"] button');
    await page.waitForURL(`${base}/`);
    await page.route('http://mail.example.com/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<a href="${base}/sessions?x=%C3%B8">look</a>` }),
    );
    await page.goto('http://mail.example.com/');
    await page.click('a');
    await page.waitForSelector('tbody');
    expect(page.url()).toBe(`${base}/sessions?x=%C3%B8`);
    expect(issuer).not.toBe(base);
  });
});
