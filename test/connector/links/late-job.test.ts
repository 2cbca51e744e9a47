/** A connection whose job our own service lacks when a link asks for it: nobody restarts anything. */
import { expect, it } from 'vitest';
import { findLink, linkRecord, updateLink } from '../../../src/connector/links/links.ts';
import { linkKey, MONITORING_QUEUE } from '../../../src/connector/names/queues.ts';
import { park } from '../../../src/runtime/lanes/lane-state.ts';
import type { Store } from '../../../src/store/store.ts';
import { entity, setService } from '../../faults/service-fixture.ts';
import type { Crms } from '../../support/fixture.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';

const service = { secretKey: Buffer.alloc(32, 7).toString('base64') };
const POLL = { timeout: 60_000, interval: 20 };

const link = (store: Store, provider: string, recordId: string) =>
  store.write((tx) => linkRecord(tx, { provider, recordId, entity, sendUpdate: false, now: Date.now() }));

const jobsIn = async ({ db }: Store) =>
  (await db.selectFrom('monitor').select('provider').orderBy('provider').execute()).map(({ provider }) => provider);

it.each(SUITE_ENGINES)('a connection that was configured while the daemon ran is monitored, on %s', async (engine) => {
  const { store } = (await setService({ engine, service })).app;
  expect(await jobsIn(store)).toEqual(['hubspot', 'salesforce']);
  const records = Array.from({ length: 20 }, (_, at) => `9${at}`);
  for (const record of records) await link(store, 'Hub-2', record);
  const observed = async () =>
    Promise.all(
      records.map(async (recordId) => (await findLink(store.db, { provider: 'Hub-2', recordId }))?.observed ?? ''),
    );
  await expect.poll(observed, POLL).toEqual(records.map(() => 'on'));
  expect(await jobsIn(store)).toEqual(['Hub-2', 'hubspot', 'salesforce']);
});

it.each(SUITE_ENGINES)('a late job causes a retry of refused items, on %s', async (engine) => {
  const ref = { provider: 'hubspot', recordId: '' };
  const error = 'This key has no job for hubspot';
  const before = async (filled: Store, { hubspot }: Crms) => {
    ref.recordId = hubspot.add({ name: 'A ApS' });
    await link(filled, 'hubspot', ref.recordId);
    await filled.write(async (tx) => {
      await updateLink(tx, ref, { observed: 'refused', observed_error: error });
      await park(tx, MONITORING_QUEUE, linkKey('hubspot', ref.recordId), { at: 1, error });
    });
  };
  const { store } = (await setService({ engine, before, service })).app;
  await expect.poll(() => findLink(store.db, ref), POLL).toMatchObject({ observed: 'on', observed_error: null });
  // The key of our own connector is known before the first call: none is refused, which would pause them all.
  const paused = store.db.selectFrom('rate_limit').select(['key', 'reason']).where('blocked_until', '>', 0);
  expect(await paused.execute()).toEqual([]);
});
