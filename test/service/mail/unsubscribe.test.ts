import { describe, expect, onTestFinished, test } from 'vitest';
import { createServer } from '../../../src/http/server/server.ts';
import { openSecrets } from '../../../src/service/keys/secrets.ts';
import { addUnsubscribeRoutes, unsubscribeUrl } from '../../../src/service/mail/unsubscribe.ts';
import type { Store } from '../../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { addMonitor, MONITOR, mailRows, mailWorker, secrets, tell } from './fixture.ts';
import { startMailServer } from './mail-server.ts';

async function served(store: Store) {
  const server = createServer();
  addUnsubscribeRoutes(server, { store, secrets, now: () => 5 });
  await server.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => server.close());
  const address = server.server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

describe.each(SUITE_ENGINES)('unsubscribing on %s', (engine) => {
  test('the link of a mail opens a page whose button ends only that mail', async () => {
    const store = await newStore(engine);
    const office = await startMailServer();
    const base = await served(store);
    await addMonitor(store, MONITOR, 'Kunder <i> & Jylland');
    await addMonitor(store, 'other');
    await tell(store, Date.now(), { recipients: ['Bo@Example.dk'] });
    const { worker } = mailWorker(store, office.url, Date.now, { publicUrl: base });
    await worker.drained();
    const link = /^<(.*)>$/.exec(office.mails[0]?.headers.get('list-unsubscribe') ?? '')?.[1] ?? '';
    expect(office.mails[0]?.text).toContain(link);

    const asked = await fetch(link);
    const page = await asked.text();
    expect(asked.status).toBe(200);
    expect(asked.headers.get('content-type')).toContain('text/html');
    expect(page).toContain('Kunder &lt;i&gt; &amp; Jylland');
    expect(
      await store.db.selectFrom('unsubscribed').select(['monitor', 'recipient', 'at', 'bounced']).execute(),
    ).toEqual([]);

    const action = /action="([^"]+)"/.exec(page)?.[1] ?? '';
    await tell(store, Date.now() + 60_000, { recipients: ['bo@example.dk'], frequency: 'daily' });
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    const done = await fetch(new URL(action, link), { ...form, body: '' });
    expect(done.status).toBe(200);
    expect(await done.text()).toContain('Du er afmeldt');
    expect(
      await store.db.selectFrom('unsubscribed').select(['monitor', 'recipient', 'at', 'bounced']).execute(),
    ).toEqual([{ monitor: MONITOR, recipient: 'bo@example.dk', at: 5, bounced: null }]);
    expect((await mailRows(store)).map(({ error }) => error)).toEqual([null, 'unsubscribed']);

    await tell(store, Date.now(), { recipients: ['bo@example.dk'] });
    await tell(store, Date.now(), { recipients: ['bo@example.dk'], monitor: 'other' });
    await worker.drained();
    expect(office.mails).toHaveLength(2);
  });

  test('works by one click in a mail program, in either form, any number of times', async () => {
    const store = await newStore(engine);
    const base = await served(store);
    await addMonitor(store);
    const link = unsubscribeUrl(base, secrets, MONITOR, 'bo@example.dk');
    const multipart = new FormData();
    multipart.set('List-Unsubscribe', 'One-Click');
    for (const body of [new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }), multipart, undefined]) {
      const answer = await fetch(link, { method: 'POST', ...(body !== undefined && { body }) });
      expect(answer.status).toBe(200);
    }
    expect(
      await store.db.selectFrom('unsubscribed').select(['monitor', 'recipient', 'at', 'bounced']).execute(),
    ).toHaveLength(1);
  });

  test('from a removed monitor succeeds, and stores no address', async () => {
    const store = await newStore(engine);
    const base = await served(store);
    const answer = await fetch(unsubscribeUrl(base, secrets, MONITOR, 'bo@example.dk'), { method: 'POST' });
    expect(answer.status).toBe(200);
    expect(
      await store.db.selectFrom('unsubscribed').select(['monitor', 'recipient', 'at', 'bounced']).execute(),
    ).toEqual([]);
  });
});

test('a forged link ends nothing', async () => {
  const store = await newStore('sqlite');
  const base = await served(store);
  const good = new URL(unsubscribeUrl(base, secrets, MONITOR, 'bo@example.dk')).searchParams.get('token') ?? '';
  const [who = '', mac = ''] = good.split('.');
  const another = Buffer.from(JSON.stringify([MONITOR, 'ida@example.dk'])).toString('base64url');
  const otherKey = openSecrets(Buffer.alloc(32, 8));
  const forged = [
    'x',
    '.',
    who,
    `${who}.`,
    `${another}.${mac}`,
    `${who}.${mac.slice(0, -2)}`,
    `${who}.${mac}.${mac}`,
    `${another}.${otherKey.sign(`unsubscribe ${another}`)}`,
    // A code made for another purpose.
    `${another}.${secrets.sign(another)}`,
    `${'A'.repeat(1_900)}.${mac}`,
  ];
  for (const token of forged) {
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(`${base}/unsubscribe?token=${encodeURIComponent(token)}`, { method });
      expect([token, answer.status]).toEqual([token, 400]);
      expect(await answer.text()).not.toContain('example.dk');
    }
  }
  expect((await fetch(`${base}/unsubscribe`)).status).toBe(400);
  expect((await fetch(`${base}/unsubscribe?token=${'A'.repeat(5_000)}`)).status).toBe(400);
  expect(await store.db.selectFrom('unsubscribed').select(['monitor', 'recipient', 'at', 'bounced']).execute()).toEqual(
    [],
  );
  const answer = await fetch(`${base}/unsubscribe?token=${encodeURIComponent(good)}`);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('bo@example.dk')]);
});

test('a body is not read beyond the length of a form', async () => {
  const store = await newStore('sqlite');
  const base = await served(store);
  const link = unsubscribeUrl(base, secrets, MONITOR, 'bo@example.dk');
  const answer = await fetch(link, { method: 'POST', body: 'x'.repeat(100_000) });
  expect(answer.status).toBe(413);
});
