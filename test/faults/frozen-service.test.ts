/**
 * Two services on one PostgreSQL. The first is frozen (SIGSTOP) amid a post to a webhook and a letter to the mail server;
 * the second does that work, with a newer change; then the first is woken (SIGCONT).
 */
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { publish } from '../../src/service/publish/publish.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { openHook } from '../service/delivering.ts';
import { startMailServer } from '../service/mail/mail-server.ts';
import { changed } from '../service/monitored.ts';
import { daemonWith } from '../support/daemon.ts';
import { watchStore } from '../support/fixture.ts';
import { holdingProxy } from '../support/holding-proxy.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';

const WAITING = { timeout: 120_000, interval: 20 };

/** What waits for a webhook or a mailbox, or is on its way there. */
const behind = async ({ db }: Store): Promise<readonly string[]> =>
  (await db.selectFrom('lane').select('queue').where('queue', 'in', ['deliver', 'mail']).execute()).map(
    ({ queue }) => queue,
  );

/** A mail server that holds its first mail `before` or `after` it has it, and the ids of the mails that it has. */
async function mailServer(when: 'before' | 'after') {
  const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ids: string[] = [];
  let first = true;
  const held = async (at: 'before' | 'after') => {
    if (at !== when || !first) return;
    first = false;
    reached.resolve();
    await open.promise;
  };
  const { url } = await startMailServer({
    onRcptTo: (_address, _session, done) => void held('before').then(() => done()),
    onData: (stream, _session, done) =>
      void text(stream).then(
        async (mail) => {
          ids.push(/^Message-ID: (.*)$/im.exec(mail)?.[1] ?? '');
          await held('after');
          done();
        },
        // Its sender gave up amid the mail, and sends it again.
        () => undefined,
      ),
  });
  return { url, ids, reached: reached.promise, release: open.resolve };
}

test.each(['before', 'after'] as const)(
  'a service frozen %s its delivery and its mail arrive sends all in order, and repeats only under one id',
  async (when) => {
    const [hook, mail] = [await openHook(), await mailServer(when)];
    const webhook = await holdingProxy(new URL(hook.url).origin);
    const url = await newStoreUrl('postgres');
    await (await openStore(url)).close();
    const store = await watchStore(url);
    const key = randomBytes(32);
    const config = {
      server: { port: 0 },
      admin: { openMetrics: true },
      store: url,
      service: {
        register: { source: 'file', path: newFolder() },
        webhooks: { allow: ['127.0.0.1'] },
        smtp: { url: mail.url, from: 'vagt@example.dk' },
        secretKey: key.toString('base64'),
        leaseSeconds: 5,
      },
    };
    const first = await daemonWith(config);
    await first.start();
    const reported = {
      name: 'all',
      target: 'all',
      url: `${webhook.url}/hook`,
      emails: ['bo@example.dk'],
      mailFrequency: 'immediate',
    } as const;
    await store.write((tx) => createMonitor(tx, reported, { secrets: openSecrets(key), now: Date.now() }));
    const hold = webhook.hold(/hook$/, when);
    const name = (before: string, after: string) => changed({ updates: { name: { before, after } } });
    await store.write((tx) => publish(tx, [name('A ApS', 'B ApS')], { now: Date.now() }));
    await expect.poll(() => hold.held.length, WAITING).toBe(1);
    await mail.reached;
    first.signal('SIGSTOP');
    hold.stop();

    const second = await daemonWith(config);
    await second.start();
    await store.write((tx) => publish(tx, [name('B ApS', 'C ApS')], { now: Date.now() }));
    await expect.poll(() => behind(store), WAITING).toEqual([]);
    hold.release();
    mail.release();
    first.signal('SIGCONT');

    const lost = () =>
      first.log.flatMap((line) => (line.includes('process froze') ? [String(JSON.parse(line).queue)] : []));
    await expect.poll(() => [...new Set(lost())].sort(), WAITING).toEqual(['deliver', 'mail']);
    await expect.poll(() => behind(store), WAITING).toEqual([]);
    const posts = hook.seen.map(({ headers, body }) => [headers['webhook-id'], /"after":"(.) ApS"/.exec(body)?.[1]]);
    const firsts = new Map(posts.map(([id, after]) => [after, id]));
    expect([...firsts.keys()]).toEqual(['B', 'C']);
    expect(posts).toHaveLength(3);
    expect(new Set(posts.map(([id]) => id)).size).toBe(2);
    // Two mails, the first of them twice at most, as the same mail.
    await expect.poll(() => new Set(mail.ids).size, WAITING).toBe(2);
    expect(mail.ids.length).toBeLessThanOrEqual(3);
    const states = await store.db.selectFrom('delivery').select(['state', 'attempts']).execute();
    expect(states).toEqual([1, 2].map(() => ({ state: 'done', attempts: 1 })));
    expect(await (await fetch(`${first.adminUrl}/metrics`)).text()).toMatch(/cvrsync_lease_lost_total [2-9]/);
  },
);
