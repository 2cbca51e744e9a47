/** CRMs that do not answer as they should: the work waits, is retried, and is done once. */
import { describe, expect, test } from 'vitest';
import type { FaultAction } from '../../providers/kit/emulator/emulator.ts';
import { casesOf } from '../support/all.ts';
import { handClock } from '../support/clock.ts';
import { type CrmName, type Fixture, startFixture } from '../support/fixture.ts';
import { CRMS, ENTITY, renamed } from './company.ts';

const DAY_MS = 86_400_000;
const WAITING = { timeout: 120_000, interval: 20 };

/** Why no calls may be made to a CRM just now. */
const pauseOf = async (fixture: Fixture, crm: CrmName): Promise<string | null | undefined> =>
  (await fixture.app.connector?.crms.find(({ name }) => name === crm)?.rateLimiter.blockedUntil())?.reason;

describe.each(CRMS)('$crm', ({ crm, name, own, read, write }) => {
  const busy: FaultAction = { kind: 'status', status: 503, body: '<html>maintenance</html>' };
  const faults: readonly [string, string, FaultAction][] = [
    ['a read answered with 500', read, { ...busy, status: 500 }],
    ['a write answered with 503', write, busy],
    ['a read that hangs', read, { kind: 'hang' }],
    ['a write that hangs after it was applied', write, { kind: 'hang', applied: true }],
    ['a read cut off in its body', read, { kind: 'cut' }],
    ['a write cut off after it was applied', write, { kind: 'cut', applied: true }],
    ['a write whose connection is reset after it was applied', write, { kind: 'reset', applied: true }],
  ];
  test.each(casesOf(crm, faults))('%s is retried, and the record ends correct', async (_, match, action) => {
    const fixture = await startFixture({ ...(action.kind === 'hang' && { deadlineMs: 2_000 }), clock: handClock() });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    let effects = 0;
    fixture[crm].onWrite = () => {
      effects++;
    };
    fixture[crm].fault({ match, action });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.atRest();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS', [own]: 'B ApS' });
    expect(effects).toBe(1);
    const lost = (await fixture.history(id)).filter(({ property }) => property === name);
    expect(lost.map(({ outcome }) => outcome)).toEqual('applied' in action ? ['written', 'skipped'] : ['written']);
  });

  test('an unreadable schema is requested again', async () => {
    const fixture = await startFixture({ clock: handClock() });
    fixture[crm].fault({ match: '(properties|describe)', action: busy });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.atRest();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS', [own]: 'B ApS' });
  });

  test('a pause of a second that a 429 asks for is kept, and is no failure', async () => {
    const fixture = await startFixture();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    const action: FaultAction = { kind: 'status', status: 429, body: {}, headers: { 'retry-after': '1' } };
    fixture[crm].fault({ match: read, action });
    const began = Date.now();
    await fixture.post(renamed('A ApS', 'B ApS'));
    await expect.poll(() => pauseOf(fixture, crm), WAITING).toBeTypeOf('string');
    expect(await attempts(fixture)).toEqual([0]);
    await fixture.atRest();
    expect(fixture[crm].get(id)).toMatchObject({ [own]: 'B ApS' });
    expect(fixture[crm].calls.filter(({ at }) => at > began && at < began + 900)).toEqual([]);
  });

  test('a revoked token pauses the account with the reason, until it works again', async () => {
    const clock = handClock();
    const fixture = await startFixture({ clock, ...longSessions });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    fixture[crm].revoke();
    await fixture.post(renamed('A ApS', 'B ApS'));
    await expect.poll(() => pauseOf(fixture, crm), WAITING).toMatch(/token|session|credentials/i);
    const asked = fixture[crm].calls.length;
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    clock.forward(30_000);
    expect(fixture[crm].calls).toHaveLength(asked);
    fixture[crm].reinstate();
    clock.forward(31_000);
    await fixture.atRest();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'C ApS', [own]: 'C ApS' });
  });
});

const longSessions = { salesforce: { sessionMs: 2 * DAY_MS } };

test('an expired session is renewed silently', async () => {
  const clock = handClock();
  const fixture = await startFixture({ clock });
  const id = await fixture.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await fixture.post(renamed('A ApS', 'B ApS'));
  await fixture.settled();
  clock.forward(60_000);
  fixture.salesforce.expireSessions();
  await fixture.post(renamed('B ApS', 'C ApS', 9));
  await fixture.settled();
  expect(fixture.salesforce.get(id)).toMatchObject({ Name: 'C ApS' });
  expect(await pauseOf(fixture, 'salesforce')).toBeUndefined();
});

test('Salesforce pauses for a quarter of an hour once a share of its daily allowance is used', async () => {
  const clock = handClock();
  const fixture = await startFixture({ clock, salesforce: { daily: 21, usageJitter: 0, now: clock.now } });
  const id = await fixture.addLinked('salesforce', ENTITY, { Name: 'N 0' });
  await fixture.settled();
  let hour = 1;
  while ((await pauseOf(fixture, 'salesforce')) === undefined && hour < 20) {
    await fixture.post(renamed(`N ${hour - 1}`, `N ${hour}`, hour));
    const shows = `N ${hour}`;
    // It may be the read before the write that uses up the share.
    const written = async () =>
      fixture.salesforce.get(id)?.['Name'] === shows || (await pauseOf(fixture, 'salesforce')) !== undefined;
    await expect.poll(written, WAITING).toBe(true);
    hour++;
  }
  expect(await pauseOf(fixture, 'salesforce')).toMatch(/17 of its 21 API calls/);
  await fixture.post(renamed(`N ${hour - 1}`, `N ${hour}`, hour));
  clock.forward(15 * 60_000);
  await expect.poll(() => pauseOf(fixture, 'salesforce'), WAITING).toMatch(/of its 21 API calls/);
  clock.forward(DAY_MS + 3_600_000);
  await fixture.settled();
  await fixture.atRest();
  expect(fixture.salesforce.get(id)).toMatchObject({ Name: `N ${hour}` });
});

test('an edit between the read of a record and the end of a pause stays', async () => {
  const clock = handClock();
  // Account, schema and read of the new link, read and write of the first change, read of the second: none is left
  // for its write.
  const fixture = await startFixture({ clock, hubspot: { daily: 6, now: clock.now } });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  await fixture.settled();
  await fixture.post(renamed('A ApS', 'B ApS'));
  await fixture.settled();
  await fixture.post(renamed('B ApS', 'C ApS', 9));
  await expect.poll(() => pauseOf(fixture, 'hubspot'), WAITING).toMatch(/daily limit/);
  fixture.hubspot.edit(id, { name: 'B (our best customer)' });
  clock.forward(DAY_MS);
  // At rest sets the clock on, and a record that was read before is read again: that would spend the calls of the day.
  await fixture.settled();
  await fixture.atRest();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'B (our best customer)', cvr_name: 'C ApS' });
});

test('the daily limit of HubSpot pauses the account until it ends', async () => {
  const clock = handClock();
  // Account, schema and read of the new link, read and write of the first change.
  const fixture = await startFixture({ clock, hubspot: { daily: 5, now: clock.now } });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  await fixture.settled();
  await fixture.post(renamed('A ApS', 'B ApS'));
  await expect.poll(() => fixture.hubspot.get(id)?.['name'], WAITING).toBe('B ApS');
  await fixture.post(renamed('B ApS', 'C ApS', 9));
  await expect.poll(() => pauseOf(fixture, 'hubspot'), WAITING).toMatch(/daily limit/);
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'B ApS' });
  clock.forward(DAY_MS);
  // At rest sets the clock on, and a record that was read before is read again: that would spend the calls of the day.
  await fixture.settled();
  await fixture.atRest();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'C ApS' });
});

const attempts = async (fixture: Fixture): Promise<readonly number[]> => {
  const lanes = await fixture.app.store.db.selectFrom('lane').selectAll().where('queue', 'like', 'sync:%').execute();
  return lanes.map((lane) => lane.attempts);
};
