/** Links heal from end to end: a CRM tells, or is asked, and upstream monitors what its records stand for. */
import { expect, test } from 'vitest';
import { listLinks } from '../../../src/connector/links/links.ts';
import { readValue } from '../../../src/store/kv.ts';
import { handClock } from '../../support/clock.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { startFixture } from '../../support/fixture.ts';
import { serveService } from '../../support/service.ts';

const HOUR_MS = 3_600_000;
const WAITING = { timeout: 120_000, interval: 50 };
/** What the clock gains at each look. */
const FAST_MS = 500;
const CRMS = {
  hubspot: { number: 'cvr_number', name: 'name' },
  salesforce: { number: 'CVR_Number__c', name: 'Name' },
} as const;
const clientSecret = 'the-secret-of-the-app';
const cvr = cvrNumber;
const item = (index: number, id: string): string => `CVR-1-${cvr(index)} ${id}`;

test.each([
  { crm: 'hubspot', how: 'webhooks in the new shape', shape: 'object' },
  { crm: 'hubspot', how: 'webhooks in the old shape', shape: 'company' },
  { crm: 'hubspot', how: 'polling', shape: undefined },
  { crm: 'salesforce', how: 'polling', shape: undefined },
] as const)('links in $crm heal by $how', async ({ crm, shape }) => {
  const { number, name } = CRMS[crm];
  const clock = handClock();
  const service = await serveService();
  const fixture = await startFixture({
    clock,
    upstream: { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: 60_000 },
    hubspot: { now: clock.now },
    salesforce: { now: clock.now },
    connections: {
      [crm]: {
        match: { property: number },
        autoLink: true,
        pollMinutes: shape === undefined ? 10 : 0,
        ...(shape !== undefined && { clientSecret }),
      },
    },
  });
  const emulator = fixture[crm];
  const { store, url } = fixture.app;
  if (shape !== undefined) fixture.hubspot.subscribe({ url: `${url}/providers/hubspot/webhook`, clientSecret, shape });
  else await expect.poll(() => readValue(store.db, `changes:${crm}`), WAITING).toBeDefined();

  /** What upstream comes to monitor, once the CRM has told or was asked. */
  const observed = async (...items: readonly string[]): Promise<void> => {
    if (shape === undefined) clock.forward(HOUR_MS + 60_000);
    const sorted = items.toSorted();
    await expect
      .poll(() => {
        clock.forward(FAST_MS);
        return service.items(crm).toSorted();
      }, WAITING)
      .toEqual(sorted);
    await fixture.settled();
    expect(service.items(crm).toSorted()).toEqual(sorted);
  };
  const add = (index: number | undefined): string =>
    emulator.add({ [name]: `Company ${index}`, [number]: index === undefined ? null : cvr(index) });

  const [gone, cleared, changed, merged, blank] = [add(1), add(2), add(3), add(4), add(undefined)];
  const kept = [item(1, gone), item(2, cleared), item(3, changed), item(4, merged)];
  await observed(...kept);

  emulator.remove(gone);
  emulator.edit(cleared, { [number]: null });
  emulator.edit(changed, { [number]: `DK ${cvr(5)}` });
  emulator.edit(blank, { [number]: cvr(6) });
  const survivor = emulator.merge(merged, emulator.add({ [name]: 'The other one' }));
  await observed(item(5, changed), item(6, blank), item(4, survivor));

  emulator.restore(gone);
  emulator.edit(cleared, { [number]: cvr(2) });
  const last = emulator.merge(survivor, emulator.add({ [name]: 'One more' }));
  await observed(item(1, gone), item(2, cleared), item(5, changed), item(6, blank), item(4, last));

  // Two companies meet in one record: a person must say, and both stay monitored meanwhile.
  const contested = emulator.merge(gone, cleared);
  if (shape === undefined) clock.forward(HOUR_MS + 60_000);
  await expect
    .poll(async () => {
      clock.forward(FAST_MS);
      return (await listLinks(store.db, { provider: crm, state: 'conflict' })).length;
    }, WAITING)
    .toBe(2);
  await fixture.settled();
  const links = await listLinks(store.db, { provider: crm });
  const conflict = links.filter(({ state }) => state === 'conflict');
  expect(conflict.map(({ record_id }) => record_id)).toContain(contested);
  expect(conflict.map(({ entity }) => entity).toSorted()).toEqual([`CVR-1-${cvr(1)}`, `CVR-1-${cvr(2)}`]);
  expect(service.items(crm)).toHaveLength(5);
  expect(new Set(service.items(crm).map((each) => each.split(' ')[0])).size).toBe(5);
});
