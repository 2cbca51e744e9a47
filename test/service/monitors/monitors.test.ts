import { existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  activate,
  createMonitor,
  disable,
  getMonitor,
  listJobs,
  listMonitors,
  removeMonitor,
  rotateSecret,
  updateMonitor,
} from '../../../src/service/monitors/monitors.ts';
import { publish } from '../../../src/service/publish/publish.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStore, newStoreUrl } from '../../support/stores.ts';
import { COMPANY, changed, deliveries, listed, made, NOW, secrets, URL } from '../monitored.ts';

const HOUR = 3_600_000;

const states = async (store: Store) => (await deliveries(store)).map(({ state }) => state);
const happens = (store: Store) => store.write((tx) => publish(tx, [changed()], { now: NOW }));

describe.each(ENGINES)('monitors on %s', (engine) => {
  it('are created with a signing secret, and read back unchanged', async () => {
    const store = await newStore(engine);
    const input = {
      name: ' Sales ',
      target: 'all',
      events: ['stakeholder', 'NAME', 'name'],
      credentials: { method: 'Header', key: 'X-Key', value: 'hunter2' },
      schedule: [0, 5],
      emails: ['a@example.com', 'a@example.com'],
    } as const;
    const monitor = await made(store, input);
    expect(monitor).toMatchObject({
      name: 'Sales',
      events: ['name', 'stakeholders'],
      url: URL,
      schedule: [0, 5],
      emails: ['a@example.com'],
      mailFrequency: 'daily',
      enabled: true,
      enabledAt: NOW,
      disabledReason: null,
      security: { credentials: input.credentials, secrets: [{ expiresAt: null }] },
    });
    expect(Buffer.from(monitor.security.secrets[0]?.secret.slice(6) ?? '', 'base64')).toHaveLength(32);
    expect(await getMonitor(store.db, secrets, monitor.id)).toEqual(monitor);
    expect(await getMonitor(store.db, secrets, 'nobody')).toBeUndefined();
  });

  it('are refused with all problems, and nothing is stored', async () => {
    const store = await newStore(engine);
    await expect(made(store, { url: 'ftp://x', emails: ['a'] })).rejects.toThrow(/\/url.*\/emails\/0/);
    expect(await listMonitors(store.db, secrets)).toEqual([]);
  });

  it('are one job for each owner and provider', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm', owner: 'key 1' });
    const other = await made(store, { provider: 'crm', owner: 'key 2' });
    const ours = await made(store, { provider: 'crm' });
    await made(store, { owner: 'key 1' });
    await expect(made(store, { provider: 'crm', owner: 'key 1' })).rejects.toThrow(/has a job already/);
    await expect(made(store, { provider: 'crm' })).rejects.toThrow(/has a job already/);
    const many = await Promise.allSettled(
      Array.from({ length: 6 }, () => made(store, { provider: 'erp', owner: 'key 1' })),
    );
    expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await listJobs(store.db, 'key 1')).map(({ provider }) => provider)).toEqual(['crm', 'erp']);
    expect(await listJobs(store.db, 'key 2')).toEqual([
      { id: other.id, name: 'Sales', provider: 'crm', enabled: true },
    ]);
    expect((await listJobs(store.db, 'key 1'))[0]?.id).toBe(job.id);
    expect((await listJobs(store.db, null)).map(({ id }) => id)).toEqual([ours.id]);
  });

  it('are filtered by owner, kind and state', async () => {
    const store = await newStore(engine);
    await made(store, { provider: 'crm', owner: 'key 1', name: 'job' });
    await made(store, { owner: 'key 1', name: 'list' });
    await made(store, { name: 'off', enabled: false });
    const names = async (filter: Parameters<typeof listMonitors>[2]) =>
      (await listMonitors(store.db, secrets, filter)).map(({ name }) => name).toSorted();
    expect(await names({})).toEqual(['job', 'list', 'off']);
    expect(await names({ owner: 'key 1' })).toEqual(['job', 'list']);
    expect(await names({ owner: null })).toEqual(['off']);
    expect(await names({ job: true })).toEqual(['job']);
    expect(await names({ job: false })).toEqual(['list', 'off']);
    expect(await names({ provider: 'crm' })).toEqual(['job']);
    expect(await names({ enabled: false })).toEqual(['off']);
    const [first] = await listMonitors(store.db, secrets, { limit: 1 });
    expect(await listMonitors(store.db, secrets, { after: first?.id })).toHaveLength(2);
  });

  it('change only the given settings', async () => {
    const store = await newStore(engine);
    const credentials = { method: 'Bearer', token: 'hunter2' } as const;
    const before = await made(store, { events: ['name'], schedule: [0, 9], credentials });
    const patch = (to: Parameters<typeof updateMonitor>[2]) =>
      store.write((tx) => updateMonitor(tx, before.id, to, { secrets, now: NOW }));
    expect(await patch({ name: 'Other' })).toEqual({ ...before, name: 'Other' });
    const after = await patch({
      events: null,
      schedule: null,
      emails: ['a@example.com'],
      target: 'all',
      mailFrequency: 'immediate',
    });
    expect(after).toEqual({
      ...before,
      name: 'Other',
      events: null,
      schedule: null,
      emails: ['a@example.com'],
      target: 'all',
      mailFrequency: 'immediate',
    });
    const none = await patch({ credentials: { method: 'None' } });
    expect(none?.security).toEqual({ ...before.security, credentials: { method: 'None' } });
    expect(await getMonitor(store.db, secrets, before.id)).toEqual(none);
    await expect(patch({ url: 'https://user:pw@example.com' })).rejects.toThrow(/\/url/);
    expect(await store.write((tx) => updateMonitor(tx, 'nobody', {}, { secrets, now: NOW }))).toBeUndefined();
  });

  it('send nothing more to a former recipient, not even what waits for the next digest', async () => {
    const store = await newStore(engine);
    const emails = ['a@example.com', 'b@example.com'];
    const { id } = await made(store, { target: 'all', url: null, emails });
    await happens(store);
    await store.write((tx) => updateMonitor(tx, id, { name: 'Sales 2' }, { secrets, now: NOW }));
    const mails = () =>
      store.db.selectFrom('mail').select(['recipient', 'failed_at', 'error']).orderBy('recipient').execute();
    const waits = { failed_at: null, error: null };
    expect(await mails()).toEqual(emails.map((recipient) => ({ recipient, ...waits })));
    await store.write((tx) => updateMonitor(tx, id, { emails: ['b@example.com'] }, { secrets, now: NOW }));
    const ended = { recipient: 'a@example.com', failed_at: NOW, error: 'no longer a recipient' };
    expect(await mails()).toEqual([ended, { recipient: 'b@example.com', ...waits }]);
    await store.write((tx) => updateMonitor(tx, id, { emails: [] }, { secrets, now: NOW }));
    expect((await mails()).filter(({ failed_at }) => failed_at === null)).toEqual([]);
  });

  it('start over with another webhook, and hold what is due without one', async () => {
    const store = await newStore(engine);
    const { id } = await made(store, { target: 'all' });
    await happens(store);
    const failing = { failing_since: NOW, failed_attempts: 7, notices: 1 };
    await store.write((tx) => tx.updateTable('monitor').set(failing).execute());
    const same = await store.write((tx) => updateMonitor(tx, id, { url: URL }, { secrets, now: NOW }));
    expect(same).toMatchObject({ failingSince: NOW, failedAttempts: 7, notices: 1 });
    const moved = await store.write((tx) => updateMonitor(tx, id, { url: `${URL}/2` }, { secrets, now: NOW }));
    expect(moved).toMatchObject({ failingSince: null, failedAttempts: 0, notices: 0 });
    expect(await states(store)).toEqual(['due']);
    await store.write((tx) => updateMonitor(tx, id, { url: null }, { secrets, now: NOW }));
    expect(await states(store)).toEqual(['held']);
  });

  it('hold what is due and new changes while disabled, and send them once enabled', async () => {
    const store = await newStore(engine);
    const { id } = await made(store, { target: 'all', enabled: false });
    await happens(store);
    expect(await store.write((tx) => activate(tx, id, NOW + 1))).toBe(true);
    await happens(store);
    expect(await store.write((tx) => disable(tx, id, 'failing', NOW + 2))).toBe(true);
    expect(await store.write((tx) => disable(tx, id, 'person', NOW + 3))).toBe(false);
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({
      enabled: false,
      disabledReason: 'failing',
      disabledAt: NOW + 2,
    });
    await happens(store);
    expect(await states(store)).toEqual(['held', 'held']);
    expect(await store.write((tx) => activate(tx, id, NOW + 4))).toBe(true);
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({
      enabled: true,
      enabledAt: NOW + 1,
      disabledReason: null,
      failingSince: null,
    });
    await happens(store);
    expect(await states(store)).toEqual(['held', 'held', 'due']);
    expect(await store.write((tx) => activate(tx, 'nobody', NOW))).toBe(false);
    expect(await store.write((tx) => disable(tx, 'nobody', 'person', NOW))).toBe(false);
  });

  it('make no change due that happens while they are being disabled', async () => {
    const store = await newStore(engine);
    const { id } = await made(store, { target: 'all' });
    for (let round = 0; round < 10; round++) {
      await store.write((tx) => activate(tx, id, NOW));
      await Promise.all([
        happens(store),
        happens(store),
        store.write((tx) => disable(tx, id, 'person', NOW)),
        happens(store),
      ]);
    }
    expect(new Set(await states(store))).toEqual(new Set(['held']));
    expect(await states(store)).toHaveLength(30);
  });

  it('also hold what was about to be due when they were disabled', async () => {
    const store = await newStore(engine);
    const { id } = await made(store, { target: 'all' });
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const publishing = store.write(async (tx) => {
      await publish(tx, [changed()], { now: NOW });
      begun.resolve();
      await end.promise;
    });
    await begun.promise;
    const disabling = store.write((tx) => disable(tx, id, 'person', NOW));
    // It waits for the publisher; were it not to, it would be done by then.
    await Promise.race([disabling, setTimeout(100)]);
    end.resolve();
    await Promise.all([publishing, disabling]);
    expect(await states(store)).toEqual(['held']);
  });

  it('are removed with their items and mails, and their deliveries are dropped', async () => {
    const store = await newStore(engine);
    const [gone, stays] = [await made(store, { emails: ['a@example.com'] }), await made(store)];
    for (const { id } of [gone, stays]) await listed(store, id, COMPANY);
    await happens(store);
    expect(await store.write((tx) => removeMonitor(tx, gone.id, NOW + 1))).toBe(true);
    expect(await store.write((tx) => removeMonitor(tx, gone.id, NOW + 1))).toBe(false);
    expect((await listMonitors(store.db, secrets)).map(({ id }) => id)).toEqual([stays.id]);
    const left = (await deliveries(store)).map(
      ({ monitor, state }) => `${monitor === gone.id ? 'gone' : 'stays'} ${state}`,
    );
    expect(left.toSorted()).toEqual(['gone dropped', 'gone dropped', 'stays due', 'stays due']);
    expect(await store.db.selectFrom('mail').select('seq').execute()).toEqual([]);
    await happens(store);
    expect((await deliveries(store)).filter(({ monitor }) => monitor === gone.id)).toHaveLength(2);
  });

  it('sign with the new secret first, and with the old one for 24 hours', async () => {
    const store = await newStore(engine);
    const monitor = await made(store, { credentials: { method: 'BasicAuth', key: 'us', value: 'pw' } });
    const rotate = (now: number) => store.write((tx) => rotateSecret(tx, secrets, monitor.id, now));
    const first = monitor.security.secrets[0]?.secret;
    const second = (await rotate(NOW))?.security;
    expect(second).toMatchObject({
      credentials: monitor.security.credentials,
      secrets: [{ expiresAt: null }, { secret: first, expiresAt: NOW + 24 * HOUR }],
    });
    expect(second?.secrets[0]?.secret).not.toBe(first);
    const third = (await rotate(NOW + HOUR))?.security.secrets;
    expect(third?.map(({ expiresAt }) => expiresAt)).toEqual([null, NOW + 25 * HOUR, NOW + 24 * HOUR]);
    const last = (await rotate(NOW + 24 * HOUR))?.security.secrets;
    expect(last?.map(({ expiresAt }) => expiresAt)).toEqual([null, NOW + 48 * HOUR, NOW + 25 * HOUR]);
    expect((await getMonitor(store.db, secrets, monitor.id))?.security.secrets).toEqual(last);
    expect(await store.write((tx) => rotateSecret(tx, secrets, 'nobody', NOW))).toBeUndefined();
  });
});

it('the file of the store and its log show no secret of a monitor', async () => {
  const url = await newStoreUrl('sqlite');
  const store = await openStore(url);
  const credentials = { method: 'Header', key: 'X-Key', value: 'correct-horse-battery' } as const;
  const { security } = await store.write((tx) =>
    createMonitor(
      tx,
      { name: 'Findable', url: `${URL}/hook-of-ours?key=tr0ubador`, credentials },
      { secrets, now: NOW },
    ),
  );
  const secret = security.secrets[0]?.secret ?? expect.fail();
  const files = [url, `${url}-wal`];
  const bytes = () => files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'latin1'));
  const open = bytes();
  await store.close();
  for (const text of [...open, ...bytes()]) {
    for (const part of ['correct-horse-battery', 'hook-of-ours', 'tr0ubador']) expect(text).not.toContain(part);
    expect(text).not.toContain(secret.slice(6, 30));
  }
  expect([...open, ...bytes()].join()).toContain('Findable');
});
