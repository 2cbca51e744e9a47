/** Holds follow a merge in either CRM, and are back on a record that Salesforce restores from its recycle bin. */
import { expect, test } from 'vitest';
import { findLink } from '../../../src/connector/links/links.ts';
import { listHolds } from '../../../src/connector/overrides/hold-list.ts';
import { setOverride } from '../../../src/connector/overrides/override.ts';
import { readValue } from '../../../src/store/kv.ts';
import { handClock } from '../../support/clock.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { startFixture } from '../../support/fixture.ts';

const CRMS = {
  hubspot: { number: 'cvr_number', name: 'name' },
  salesforce: { number: 'CVR_Number__c', name: 'Name' },
} as const;
const WAITING = { timeout: 60_000, interval: 50 };
const HOUR_MS = 3_600_000;

test.each(['hubspot', 'salesforce'] as const)('a hold in %s is listed once after a merge', async (crm) => {
  const { number, name } = CRMS[crm];
  const clock = handClock();
  const fixture = await startFixture({
    clock,
    hubspot: { now: clock.now },
    salesforce: { now: clock.now },
    connections: { [crm]: { match: { property: number }, autoLink: true, pollMinutes: 10 } },
  });
  const emulator = fixture[crm];
  const { store } = fixture.app;
  await expect.poll(() => readValue(store.db, `changes:${crm}`), WAITING).toBeDefined();
  const stateOf = async (recordId: string) => (await findLink(store.db, { provider: crm, recordId }))?.state;
  const becomes = async (recordId: string, state: string): Promise<void> => {
    clock.forward(HOUR_MS);
    await expect
      .poll(() => {
        clock.forward(500);
        return stateOf(recordId);
      }, WAITING)
      .toBe(state);
  };
  const held = async () =>
    (await listHolds(store.db, clock.now(), { provider: crm }, 9)).map(({ recordId }) => recordId);

  const merged = emulator.add({ [name]: 'Birk', [number]: cvrNumber(1) });
  await becomes(merged, 'active');
  const hold = { kind: 'hold', once: false, until: null, reason: null } as const;
  await store.write((tx) => setOverride(tx, { provider: crm, recordId: merged, property: 'phone' }, hold, clock.now()));
  const survivor = emulator.merge(emulator.add({ [name]: 'Birk ApS' }), merged);
  await becomes(merged, 'merged');
  expect([await stateOf(survivor), await held()]).toEqual(['active', [survivor]]);
  if (crm === 'hubspot') return;
  // HubSpot restores no merged record.
  emulator.restore(merged);
  await becomes(merged, 'conflict');
  expect((await held()).toSorted()).toEqual([merged, survivor].toSorted());
});
