/** Our own address, which no webhook of others may use. */
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../src/app.ts';
import { checkConfig } from '../../src/config/load.ts';
import { attemptsOf, listDeliveries } from '../../src/service/delivery/deliveries.ts';
import { ensureOwnJobs, ownKey } from '../../src/service/delivery/own-jobs.ts';
import { openTransports } from '../../src/service/delivery/transport.ts';
import { createKey } from '../../src/service/keys/keys.ts';
import { createJob } from '../../src/service/monitors/jobs.ts';
import { createMonitor, getMonitor } from '../../src/service/monitors/monitors.ts';
import { publish } from '../../src/service/publish/publish.ts';
import { newFolder, newStore, newStoreUrl } from '../support/stores.ts';
import { delivering, openHook } from './delivering.ts';
import { COMPANY, changed, listed, made, secrets } from './monitored.ts';

const ADMIN_TOKEN = 'the-token-of-the-operators';
const PATIENT = { timeout: 120_000 };

/** A service alone, and what its administration is asked for with its token. */
async function fixture(webhooks: object = {}) {
  const service = { register: { source: 'file', path: newFolder() }, webhooks };
  const config = { server: { port: 0 }, admin: { token: ADMIN_TOKEN }, store: await newStoreUrl('sqlite'), service };
  const loaded = await checkConfig(config, 'cvrsync.json', {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {} });
  onTestFinished(() => app.close(1_000));
  const { store, service: half, url, adminUrl } = app;
  if (half === undefined) throw new Error('there is no service');
  const { secrets } = half;
  const made = (name: string, webhook: string) =>
    store.write((tx) => createMonitor(tx, { name, url: webhook, target: 'all' }, { secrets, now: Date.now() }));
  const victim = await store.write((tx) => createMonitor(tx, { name: 'Victim' }, { secrets, now: Date.now() }));
  const rotate = `${adminUrl}/admin/api/monitors/${victim.id}/rotate-secret`;
  const rotated = async () => (await getMonitor(store.db, secrets, victim.id))?.security.secrets.length !== 1;
  const { id, key } = await store.write((tx) =>
    createKey(tx, { name: 'Stranger', scopes: ['testwebhook', 'monitoring'] }, Date.now()),
  );
  return { app, store, secrets, made, rotate, rotated, key, owner: id, url, adminUrl };
}

it('a test of a webhook cannot reach our own address', async () => {
  const { url, key, rotate, rotated } = await fixture();
  const query = new URLSearchParams({ accessKey: key, url: rotate });
  const answer = await fetch(`${url}/apps/monitoring/testwebhook?${query}`, { method: 'POST' });
  expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('"address"')]);
  expect(await rotated()).toBe(false);
});

it('monitors and jobs with a webhook at our own address cannot reach it, nor can their test', async () => {
  const { adminUrl, store, secrets, made, rotate, rotated, owner } = await fixture();
  const { id } = await made('Monitor', rotate);
  await store.write((tx) => createJob(tx, { key: owner, provider: 'crm', url: rotate }, { secrets, now: Date.now() }));
  await store.write((tx) => publish(tx, [changed()], { now: Date.now() }));
  await expect.poll(async () => (await listDeliveries(store.db))[0]?.attempts, PATIENT).toBeGreaterThan(0);
  const [delivery] = await listDeliveries(store.db);
  const [attempt] = await attemptsOf(store.db, delivery?.seq ?? 0);
  expect(attempt?.fault).toMatch(/^address: /);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const tried = await fetch(`${adminUrl}/admin/api/monitors/${id}/test`, { method: 'POST', headers });
  expect(await tried.json()).toMatchObject({ failure: 'address' });
  expect(await rotated()).toBe(false);
});

it('a webhook posted from here administers nothing, even if private addresses are allowed', async () => {
  const { url, key, rotate, rotated } = await fixture({ allowPrivateAddresses: true });
  const query = new URLSearchParams({ accessKey: key, url: rotate });
  const answer = await fetch(`${url}/apps/monitoring/testwebhook?${query}`, { method: 'POST' });
  expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('"status"')]);
  expect(await rotated()).toBe(false);
});

it('our own jobs are notified at our own address, whichever daemon stored its own last, unlike other jobs', async () => {
  const store = await newStore('sqlite');
  const hook = await openHook();
  const own = { url: 'http://127.0.0.1:9/webhook', auth: { method: 'None' }, providers: ['hubspot'] } as const;
  await store.write((tx) => ensureOwnJobs(tx, secrets, own, Date.now()));
  const [job] = await store.db.selectFrom('monitor').select('id').execute();
  await listed(store, job?.id ?? '', COMPANY);
  await made(store, { target: 'all', url: hook.url });
  const ways = openTransports({});
  onTestFinished(() => ways.close());
  ways.openOwn(hook.url);
  const { publish: tell, worker } = delivering(store, { http: ways.http, ownTransport: ways.ownTransport });
  await tell(changed());
  await worker.drained();
  // That it was added, and its change.
  expect(hook.seen).toHaveLength(2);
  const states = (await listDeliveries(store.db)).map(({ monitor, state }) => [monitor === job?.id, state]);
  expect(states.toSorted()).toEqual([
    [false, 'failing'],
    [true, 'done'],
    [true, 'done'],
  ]);
});

it('the key of our own connector administers nothing', async () => {
  const { adminUrl, secrets } = await fixture();
  const headers = { authorization: `Bearer ${ownKey(secrets)}` };
  expect((await fetch(`${adminUrl}/admin/api/keys`, { headers })).status).toBe(401);
});
