/** Many records while a CRM gives no answer: an outage costs few calls, and one bad record does not look like one. */
import { expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { stillClock } from '../support/clock.ts';
import { type CrmName, type Fixture, lanesBehind, startFixture } from '../support/fixture.ts';
import { renamed } from './company.ts';

const RECORDS = 40;
const entityOf = (index: number): string => `CVR-1-${95_100_000 + index}`;

/** Records of companies the store knows, linked all at once, so that they are one batch. */
async function linkMany(fixture: Fixture, crm: CrmName, blank: object): Promise<readonly string[]> {
  for (let index = 0; index < RECORDS; index++)
    await fixture.post(renamed(null, `Ny ${index} ApS`, 8, entityOf(index)));
  await fixture.settled();
  const ids = Array.from({ length: RECORDS }, () => fixture[crm].add({ ...blank }));
  await fixture.app.store.write(async (tx) => {
    for (const [index, recordId] of ids.entries())
      await linkRecord(tx, { provider: crm, recordId, entity: entityOf(index), sendUpdate: false, now: Date.now() });
  });
  return ids;
}

test('after an outage the records are brought up to date in full batches', async () => {
  // Without a limit nobody waits for a call: on a clock that runs fast, what is read would be too old to be written over.
  const fixture = await startFixture({ clock: stillClock(), unhurried: true, hubspot: { rate: 'none' } });
  fixture.hubspot.fault({ match: 'batch/read$', times: 6, action: { kind: 'status', status: 503, body: '<html>' } });
  const ids = await linkMany(fixture, 'hubspot', {});
  await fixture.atRest();
  for (const [index, id] of ids.entries())
    expect(fixture.hubspot.get(id)).toMatchObject({ cvr_name: `Ny ${index} ApS` });
  const calls = fixture.hubspot.calls.filter(({ path }) => path.includes('/batch/'));
  expect(calls.length).toBeLessThanOrEqual(8);
});

test('one record on which the CRM fails is found, and the others are brought up to date', async () => {
  const validationRule = (values: { CVR_Name__c?: unknown }): undefined => {
    if (values.CVR_Name__c === 'Ny 7 ApS') throw new Error('this one brings the whole call down');
  };
  const fixture = await startFixture({ clock: stillClock(), salesforce: { validationRule } });
  const ids = await linkMany(fixture, 'salesforce', { Name: 'Gl ApS' });
  await fixture.atRest(1);
  expect(await lanesBehind(fixture.app.store)).toEqual([expect.stringContaining(ids[7] ?? '')]);
  expect(fixture.salesforce.get(ids[8] ?? '')).toMatchObject({ CVR_Name__c: 'Ny 8 ApS' });
});
