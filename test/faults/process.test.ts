/** What happens to the process and its clock: nothing that was acknowledged is lost. */
import { expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { handClock } from '../support/clock.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, lanesBehind, postWebhook, startCrms, startFixture, watchStore } from '../support/fixture.ts';
import { newStoreUrl } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';
import { ENTITY, renamed } from './company.ts';

const HOUR_MS = 3_600_000;

test('SIGTERM ends the daemon with exit code 0 within 25 s although a CRM hangs; the next one finishes the work', async () => {
  const crms = await startCrms();
  const url = await newStoreUrl('sqlite');
  const id = crms.hubspot.add({ name: 'A ApS' });
  const store = await openStore(url);
  const desired = { provider: 'hubspot', recordId: id, entity: ENTITY, sendUpdate: false, now: Date.now() };
  await store.write((tx) => linkRecord(tx, desired));
  await store.close();
  crms.hubspot.fault({ match: 'batch/read$', action: { kind: 'hang' } });

  const daemon = await daemonWith(configFor(crms, url));
  await daemon.start();
  expect(await postWebhook(`${daemon.url}/webhook`, renamed('A ApS', 'B ApS'))).toBe(204);
  const watched = await watchStore(url);
  await expect
    .poll(() => lanesBehind(watched), { timeout: 120_000 })
    .toEqual([expect.stringContaining('sync:hubspot')]);
  const began = performance.now();
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - began).toBeLessThan(25_000);

  await daemon.start();
  await untilNone(() => lanesBehind(watched));
  expect(crms.hubspot.get(id)).toMatchObject({ name: 'B ApS', cvr_name: 'B ApS' });
});

test('a second daemon on the same file ends with exit code 1 and names the file; the first continues', async () => {
  const crms = await startCrms();
  const url = await newStoreUrl('sqlite');
  const first = await daemonWith(configFor(crms, url));
  await first.start();
  const second = await daemonWith(configFor(crms, url));
  await expect(second.start()).rejects.toThrow(new RegExp(`exit code 1: .*another cvrsync daemon.*${url}`, 'is'));
  expect(await postWebhook(`${first.url}/webhook`, renamed('A ApS', 'B ApS'))).toBe(204);
});

test.each([
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
])('a clock that jumps an hour %s loses nothing and does nothing twice', async (_, jump) => {
  const clock = handClock();
  // After a jump back the pace waits for one whole window.
  const fixture = await startFixture({ clock, hubspot: { rate: { calls: 100, perMs: 500 } } });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  await fixture.settled();
  let effects = 0;
  fixture.hubspot.onWrite = () => {
    effects++;
  };
  const reached = Promise.withResolvers<void>();
  // The clock jumps while the record is being read.
  fixture.hubspot.fault({ match: 'batch/read$', action: { kind: 'slow', ms: 200 } });
  setTimeout(() => {
    clock.forward(jump);
    reached.resolve();
  }, 100);
  await fixture.post(renamed('A ApS', 'B ApS'));
  await reached.promise;
  await fixture.post(renamed('B ApS', 'C ApS', 9));
  await fixture.atRest();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'C ApS', cvr_name: 'C ApS' });
  expect(effects).toBeLessThanOrEqual(2);
});
