/** A daemon dies during its work, and the next one starts: it waits for no lease, and for no clock. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, lanesBehind, postWebhook, startCrms, watchStore } from '../support/fixture.ts';
import { holdingProxy } from '../support/holding-proxy.ts';
import { newStoreUrl, SUITE_ENGINES } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';
import { renamed } from './company.ts';

// A lease of an hour outlives any patience.
const WAITING = { timeout: 60_000, interval: 20 };
const JUMPS = ['--import', path.join(import.meta.dirname, '../support/clock-preload.mjs')];
const TWELVE = Array.from({ length: 12 }, (_, index) => `CVR-1-${cvrNumber(index + 1)}`);

test.each(
  SUITE_ENGINES.flatMap((engine) => [
    [engine, 'the same clock', false] as const,
    [engine, 'a clock that is an hour earlier', true] as const,
  ]),
)('on %s, after a crash, a start with %s syncs all twelve records at once', async (engine, _, isEarlier) => {
  const crms = await startCrms({ hubspot: { rate: 'none' } });
  const crm = await holdingProxy(crms.hubspot.url);
  const url = await newStoreUrl(engine);
  const store = await openStore(url);
  const records = TWELVE.map((entity) => ({ entity, recordId: crms.hubspot.add({ name: 'A ApS' }) }));
  await store.write(async (tx) => {
    for (const one of records)
      await linkRecord(tx, { provider: 'hubspot', ...one, sendUpdate: false, now: Date.now() });
  });
  await store.close();
  const config = configFor(crms, url, { leaseSeconds: 3600, connections: { hubspot: { baseUrl: crm.url, batch: 3 } } });
  const daemon = await daemonWith(config, JUMPS);
  await daemon.start();
  const watched = await watchStore(url);
  await untilNone(() => lanesBehind(watched));

  if (isEarlier) daemon.signal('SIGUSR2');
  const reading = crm.hold(/batch\/read$/, 'before');
  for (const { entity } of records)
    expect(await postWebhook(`${daemon.url}/webhook`, renamed('A ApS', 'B ApS', 8, entity))).toBe(204);
  await expect.poll(() => reading.held.length, WAITING).toBeGreaterThan(0);
  await expect.poll(async () => (await lanesBehind(watched)).length, WAITING).toBe(12);
  await daemon.kill('SIGKILL');
  reading.stop();
  reading.release();

  await daemon.start();
  await untilNone(() => lanesBehind(watched));
  expect(records.map(({ recordId }) => crms.hubspot.get(recordId)?.['name'])).toEqual(TWELVE.map(() => 'B ApS'));
  expect(daemon.log.join('\n')).toContain('took up the work of a daemon that crashed');
  const told = daemon.log.filter((line) => line.includes("clock is earlier than the store's last time"));
  expect(told).toHaveLength(isEarlier ? 1 : 0);
});
