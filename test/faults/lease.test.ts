/** A daemon freezes for longer than its lease: another one takes over, and the first writes nothing more. */
import { expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, lanesBehind, postWebhook, startCrms, watchStore } from '../support/fixture.ts';
import { holdingProxy } from '../support/holding-proxy.ts';
import { newStoreUrl } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';
import { ENTITY, renamed } from './company.ts';

// One that stands still amid a transaction keeps its locks for another 15 s.
const WAITING = { timeout: 120_000, interval: 10 };

test('a daemon stopped between its read and its write does not overwrite newer values of another', async () => {
  const crms = await startCrms();
  const crm = await holdingProxy(crms.hubspot.url);
  const url = await newStoreUrl('postgres');
  const id = crms.hubspot.add({ name: 'A ApS' });
  const store = await openStore(url);
  const desired = { provider: 'hubspot', recordId: id, entity: ENTITY, sendUpdate: false, now: Date.now() };
  await store.write((tx) => linkRecord(tx, desired));
  await store.close();
  const watched = await watchStore(url);
  const config = configFor(crms, url, { leaseSeconds: 5, connections: { hubspot: { baseUrl: crm.url } } });
  const first = await daemonWith(config);
  await first.start();
  await untilNone(() => lanesBehind(watched));

  const written: unknown[] = [];
  crms.hubspot.onWrite = (_, properties) => written.push(properties['name']);
  const reading = crm.hold(/batch\/read$/, 'after');
  await postWebhook(`${first.url}/webhook`, renamed('A ApS', 'B ApS'));
  await expect.poll(() => reading.held.length, WAITING).toBe(1);
  first.signal('SIGSTOP');
  reading.stop();
  reading.release();

  const second = await daemonWith(config);
  await second.start();
  await postWebhook(`${second.url}/webhook`, renamed('B ApS', 'C ApS', 9));
  await untilNone(() => lanesBehind(watched));
  // Where the second one took the lane over before it heard of C, it wrote B first.
  expect(written.at(-1)).toBe('C ApS');
  const overtaken = [...written];

  first.signal('SIGCONT');
  const lost = async (): Promise<string> => (await fetch(`${first.adminUrl}/metrics`)).text();
  await expect.poll(lost, WAITING).toMatch(/cvrsync_lease_lost_total [1-9]/);
  expect(written).toEqual(overtaken);
  expect(crms.hubspot.get(id)).toMatchObject({ name: 'C ApS', cvr_name: 'C ApS' });
});

test('a daemon stopped while its write waits for the rate limiter sends nothing when it wakes', async () => {
  const crms = await startCrms();
  const crm = await holdingProxy(crms.hubspot.url);
  const url = await newStoreUrl('postgres');
  const id = crms.hubspot.add({ name: 'A ApS' });
  const store = await openStore(url);
  const desired = { provider: 'hubspot', recordId: id, entity: ENTITY, sendUpdate: false, now: Date.now() };
  await store.write((tx) => linkRecord(tx, desired));
  await store.close();
  const watched = await watchStore(url);
  const config = configFor(crms, url, { leaseSeconds: 5, connections: { hubspot: { baseUrl: crm.url } } });
  const first = await daemonWith(config);
  await first.start();
  await untilNone(() => lanesBehind(watched));
  const written: unknown[] = [];
  crms.hubspot.onWrite = (_, properties) => written.push(properties['name']);

  const reading = crm.hold(/batch\/read$/, 'after');
  await postWebhook(`${first.url}/webhook`, renamed('A ApS', 'B ApS'));
  await expect.poll(() => reading.held.length, WAITING).toBe(1);
  reading.stop();
  const slots = () => watched.db.selectFrom('rate_limit').select('next_at').where('key', 'like', 'hubspot/%').execute();
  const setSlots = (next_at: number) =>
    watched.db.updateTable('rate_limit').set({ next_at }).where('key', 'like', 'hubspot/%').execute();
  const full = Date.now() + 8_000;
  await setSlots(full);
  reading.release();
  // It took the next slot, and waits for it.
  await expect.poll(async () => (await slots()).some(({ next_at }) => next_at > full), WAITING).toBe(true);
  first.signal('SIGSTOP');
  await setSlots(0);

  const second = await daemonWith(config);
  await second.start();
  await postWebhook(`${second.url}/webhook`, renamed('B ApS', 'C ApS', 9));
  await untilNone(() => lanesBehind(watched));
  expect(written.at(-1)).toBe('C ApS');
  const overtaken = [...written];
  first.signal('SIGCONT');
  // It may have lost others of its lanes as well, and say so sooner.
  const stoodStill = () =>
    first.log.filter((line) => line.includes('another process has its work') && line.includes('"queue":"sync:hubspot"'))
      .length;
  await expect.poll(stoodStill, WAITING).toBe(1);
  await untilNone(() => lanesBehind(watched));
  expect(written).toEqual(overtaken);
  expect(crms.hubspot.get(id)).toMatchObject({ name: 'C ApS', cvr_name: 'C ApS' });
  expect(await watched.db.selectFrom('pending_write').selectAll().execute()).toEqual([]);
});
