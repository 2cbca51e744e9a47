import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createGuard } from '../../src/http/outbound/guard.ts';
import { attemptsOf, listDeliveries } from '../../src/service/delivery/deliveries.ts';
import { openWebhookClient } from '../../src/service/delivery/post.ts';
import { addItem } from '../../src/service/items/items.ts';
import { getMonitor } from '../../src/service/monitors/monitors.ts';
import type { Store } from '../../src/store/store.ts';
import { newStore } from '../support/stores.ts';
import { type Behave, delivering, openHook, statuses } from './delivering.ts';
import { COMPANY, changed, made, OTHER, secrets } from './monitored.ts';

const HOUR = 3_600_000;
const only = async (store: Store) => (await listDeliveries(store.db))[0] ?? expect.fail();
const faultOf = async (store: Store) => (await attemptsOf(store.db, (await only(store)).seq)).at(-1) ?? expect.fail();

/** What becomes of one delivery to a webhook that behaves so. */
async function told(behave: Behave, deadlineMs = 60_000): Promise<Store> {
  const store = await newStore('sqlite');
  const hook = await openHook(behave);
  await made(store, { url: hook.url, target: 'all' });
  const { publish, worker } = delivering(store, { deadlineMs });
  await publish(changed());
  await worker.drained();
  return store;
}

const flood = (response: ServerResponse): void => {
  const more = (): void => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  };
  response.on('drain', more);
  more();
};

describe('a webhook', () => {
  it('that hangs is abandoned at the deadline', async () => {
    const store = await told(() => undefined, 300);
    expect(await faultOf(store)).toMatchObject({ status: null, fault: expect.stringMatching(/^timeout: /) });
    expect(await only(store)).toMatchObject({ state: 'failing', attempts: 1 });
  });

  it('that resets the connection is retried', async () => {
    const store = await told((response) => response.socket?.resetAndDestroy());
    expect(await faultOf(store)).toMatchObject({ status: null, fault: expect.stringMatching(/^cut: /) });
  });

  it('that refuses connections is retried', async () => {
    const store = await newStore('sqlite');
    await made(store, { url: 'http://127.0.0.1:1/', target: 'all' });
    const { publish, worker } = delivering(store);
    await publish(changed());
    await worker.drained();
    expect(await faultOf(store)).toMatchObject({ fault: expect.stringMatching(/^refused: /) });
  });

  it('that redirects fails, and the redirect is not followed', async () => {
    const target = await openHook();
    for (const status of [301, 302, 307, 308]) {
      const location = `${target.url}?key=open-sesame`;
      const store = await told((response) => response.writeHead(status, { location }).end());
      expect(await faultOf(store)).toMatchObject({ status, fault: `answered ${status}, a redirect to ${target.url}` });
    }
    expect(target.seen).toEqual([]);
  });

  it('that answers 100 Continue and then 204 succeeds', async () => {
    const store = await told((response) => {
      response.writeContinue();
      response.writeHead(204).end();
    });
    expect(await only(store)).toMatchObject({ state: 'done', status: 204, attempts: 1 });
  });

  it('whose answer states two lengths fails with the reason', async () => {
    const store = await told((response) =>
      response.socket?.write('HTTP/1.1 204 Fine\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n'),
    );
    const { fault } = await faultOf(store);
    expect(fault).toContain("Content-Length can't be present with Transfer-Encoding");
  });

  it('whose answer never ends is cut at 16 KiB', async () => {
    const store = await told((response) => flood(response.writeHead(500, { 'content-length': 10 * 1024 ** 3 })));
    expect((await faultOf(store)).answer).toBe('x'.repeat(16 * 1024));
  });

  it('that accepts the delivery succeeds even if its answer is endless or slow', async () => {
    const endless = await told((response) => flood(response.writeHead(200)));
    expect(await only(endless)).toMatchObject({ state: 'done', status: 200 });
    // Long enough for the head to come on a busy machine: the body never does.
    const slow = await told((response) => response.writeHead(200, { 'content-length': 5 }).write('s'), 3_000);
    expect(await only(slow)).toMatchObject({ state: 'done', status: 200 });
  });

  it('whose answer is no valid text has its valid part stored', async () => {
    const store = await told((response) =>
      response.writeHead(500).end(Buffer.concat([Buffer.from('a\0'), randomBytes(9)])),
    );
    expect((await faultOf(store)).answer).toMatch(/^a\uFFFD/);
  });

  it.each([
    [{ method: 'Bearer', token: 'open-sesame' }, 'open-sesame'],
    [{ method: 'Header', key: 'X-Key', value: 'open "sesame"' }, 'sesame'],
    [{ method: 'BasicAuth', key: 'ali', value: 'open-sesame' }, Buffer.from('ali:open-sesame').toString('base64')],
    [{ method: 'BasicAuth', key: 'ali', value: 'open-sesame' }, 'open-sesame'],
  ] as const)('that echoes the request is stored without its credentials: %j', async (credentials, secret) => {
    const store = await newStore('sqlite');
    const hook = await openHook((response, { headers }) =>
      response.writeHead(500).end(JSON.stringify({ headers, secret: 'value' in credentials && credentials.value })),
    );
    await made(store, { url: hook.url, target: 'all', credentials });
    const { publish, worker } = delivering(store);
    await publish(changed());
    await worker.drained();
    const { answer } = await faultOf(store);
    expect(answer).toContain('***');
    expect(answer).not.toContain(secret);
  });

  it('at a private address is never called', async () => {
    const store = await newStore('sqlite');
    const hook = await openHook();
    await made(store, { url: hook.url.replace('127.0.0.1', '2130706433'), target: 'all' });
    const client = openWebhookClient(createGuard());
    const { publish, worker } = delivering(store, { http: client.http });
    await publish(changed());
    await worker.drained();
    await client.close();
    expect(hook.seen).toEqual([]);
    expect(await faultOf(store)).toMatchObject({ fault: expect.stringMatching(/^address: /) });
  });
});

describe('a webhook that fails for days', () => {
  it('is disabled after five days with notices on the way, and later changes are held', async () => {
    const store = await newStore('sqlite');
    const hook = await openHook(statuses(503));
    const { id } = await made(store, { url: hook.url, target: 'all', name: 'Sales' });
    const { publish, later, worker } = delivering(store, { admin: 'admin@example.com' });
    for (let hour = 0; hour <= 121; hour += 1) {
      if (hour % 12 === 0) await publish(changed({ entity: `CVR-1-${99_100_000 + hour}` }));
      await worker.drained();
      await later(HOUR);
    }
    const monitor = await getMonitor(store.db, secrets, id);
    expect(monitor).toMatchObject({ enabled: false, disabledReason: 'failing' });
    expect(monitor?.failedAttempts).toBeGreaterThanOrEqual(20);
    const before = hook.seen.length;
    await publish(changed());
    await later(100 * HOUR);
    expect(hook.seen).toHaveLength(before);
    expect(new Set((await listDeliveries(store.db)).map(({ state }) => state))).toEqual(new Set(['held', 'failed']));
    const notices = await store.db.selectFrom('mail').select(['recipient', 'body']).orderBy('seq').execute();
    expect(notices.map(({ recipient }) => recipient)).toEqual(Array(4).fill('admin@example.com'));
    expect(notices.map(({ body }) => JSON.parse(body).subject)).toEqual([
      'Sales: webhooken svarer ikke',
      'Sales: webhooken svarer ikke',
      'Sales: en ændring kunne ikke leveres',
      'Sales: webhooken er slået fra',
    ]);
  });

  it('is healthy again after one success', async () => {
    const store = await newStore('sqlite');
    const hook = await openHook(statuses(500, 500, 204));
    const { id } = await made(store, { url: hook.url, target: 'all' });
    const { publish, later, worker } = delivering(store);
    await publish(changed());
    await worker.drained();
    await later(6_000);
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({ failedAttempts: 2 });
    await later(301_000);
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({ failedAttempts: 0, failingSince: null });
  });
});

/** Longer than a test waits: who has to wait for one that hangs fails it. */
const NEVER_MS = 3_600_000;

describe('a webhook that hangs', () => {
  it('does not delay another webhook', async () => {
    const store = await newStore('sqlite');
    const hanging = await openHook(() => undefined);
    const well = await openHook();
    await made(store, { url: hanging.url, target: 'all' });
    for (let i = 0; i < 20; i++) await made(store, { url: well.url, target: 'all' });
    const { publish } = delivering(store, { deadlineMs: NEVER_MS });
    for (let i = 0; i < 5; i++) await publish(changed({ entity: i % 2 === 0 ? COMPANY : OTHER }));
    await expect.poll(() => well.seen.length).toBe(100);
    // Two companies, one post each: the rest of each waits behind it.
    await expect.poll(() => hanging.seen.length).toBe(2);
  });

  it('does not delay another one even if a hundred hang in turn', async () => {
    const store = await newStore('sqlite');
    const hanging = await openHook(() => undefined);
    const well = await openHook();
    const { publish, now } = delivering(store, { deadlineMs: NEVER_MS });
    for (let i = 1; i <= 100; i++) {
      const { id } = await made(store, { url: hanging.url });
      const entity = `CVR-1-${99_100_000 + i}`;
      await store.write((tx) => addItem(tx, { monitor: id, entity, recordId: '', sendUpdate: false, now: now() }));
      await publish(changed({ entity }));
      await expect.poll(() => hanging.seen.length, { interval: 5 }).toBe(i);
    }
    await made(store, { url: well.url, target: 'all' });
    await publish(changed());
    await expect.poll(() => well.seen.length).toBe(1);
  });

  it('or asks for less gets fewer posts at a time', async () => {
    const store = await newStore('sqlite');
    let now = 0;
    let most = 0;
    const hook = await openHook((response, _seen, count) => {
      now += 1;
      if (count > 16) most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        response.writeHead(count > 16 ? 204 : 429).end();
      }, 5);
    });
    await made(store, { url: hook.url, target: 'all' });
    const { publish, worker, later } = delivering(store, { concurrency: 16 });
    const entity = (at: number) => `CVR-1-${99_100_000 + at}`;
    await publish(...Array.from({ length: 16 }, (_, at) => changed({ entity: entity(at) })));
    await worker.drained();
    await publish(...Array.from({ length: 8 }, (_, at) => changed({ entity: entity(100 + at) })));
    await worker.drained();
    expect(most).toBeLessThan(5);
    await later(6_000);
    expect(new Set((await listDeliveries(store.db)).map(({ state }) => state))).toEqual(new Set(['done']));
  });
});
