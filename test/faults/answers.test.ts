/** CRMs that do not answer as they should: the work waits, comes again, and is done once. */
import { describe, expect, test } from 'vitest';
import type { FaultAction } from '../../providers/emulator.ts';
import { handClock } from '../support/clock.ts';
import { type CrmName, type Stage, startFixture } from '../support/stage.ts';
import { CRMS, ENTITY, renamed } from './company.ts';

const DAY_MS = 86_400_000;
const WAITING = { timeout: 10_000, interval: 20 };

/** Why no calls may be made to a CRM just now. */
const pauseOf = async (stage: Stage, crm: CrmName): Promise<string | null | undefined> =>
  (await stage.app.connector?.crms.find(({ name }) => name === crm)?.rateLimiter.blockedUntil())?.reason;

describe.each(CRMS)('$crm', ({ crm, name, own, read, write }) => {
  const busy: FaultAction = { kind: 'status', status: 503, body: '<html>maintenance</html>' };
  test.each<[string, string, FaultAction]>([
    ['a read answered with 500', read, { ...busy, status: 500 }],
    ['a write answered with 503', write, busy],
    ['a read that hangs', read, { kind: 'hang' }],
    ['a write that hangs after it was applied', write, { kind: 'hang', applied: true }],
    ['a read cut off in its body', read, { kind: 'cut' }],
    ['a write cut off after it was applied', write, { kind: 'cut', applied: true }],
    ['a write whose connection is reset after it was applied', write, { kind: 'reset', applied: true }],
  ])('%s is tried again, and the record ends right', async (_, match, action) => {
    const stage = await startFixture({ deadlineMs: 400, clock: handClock() });
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.settled();
    let effects = 0;
    stage[crm].onWrite = () => {
      effects++;
    };
    stage[crm].fault({ match, action });
    await stage.post(renamed('A ApS', 'B ApS'));
    await stage.atRest();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'B ApS', [own]: 'B ApS' });
    expect(effects).toBe(1);
    const lost = (await stage.history(id)).filter(({ property }) => property === name);
    expect(lost.map(({ outcome }) => outcome)).toEqual('applied' in action ? ['written', 'skipped'] : ['written']);
  });

  test('a schema that cannot be read is asked for again', async () => {
    const stage = await startFixture({ clock: handClock() });
    stage[crm].fault({ match: '(properties|describe)', action: busy });
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.post(renamed('A ApS', 'B ApS'));
    await stage.atRest();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'B ApS', [own]: 'B ApS' });
  });

  test('a pause of a second that a 429 asks for is kept, and counts as no failure', async () => {
    const stage = await startFixture();
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.settled();
    const action: FaultAction = { kind: 'status', status: 429, body: {}, headers: { 'retry-after': '1' } };
    stage[crm].fault({ match: read, action });
    const began = Date.now();
    await stage.post(renamed('A ApS', 'B ApS'));
    await expect.poll(() => pauseOf(stage, crm), WAITING).toBeTypeOf('string');
    expect(await attempts(stage)).toEqual([0]);
    await stage.atRest();
    expect(stage[crm].get(id)).toMatchObject({ [own]: 'B ApS' });
    expect(stage[crm].calls.filter(({ at }) => at > began && at < began + 900)).toEqual([]);
  });

  test('a revoked token pauses the account with the reason; when it works again so does the account', async () => {
    const clock = handClock();
    const stage = await startFixture({ clock, ...longSessions });
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.settled();
    stage[crm].revoke();
    await stage.post(renamed('A ApS', 'B ApS'));
    await expect.poll(() => pauseOf(stage, crm), WAITING).toMatch(/token|session|credentials/i);
    const asked = stage[crm].calls.length;
    await stage.post(renamed('B ApS', 'C ApS', 9));
    clock.forward(30_000);
    expect(stage[crm].calls).toHaveLength(asked);
    stage[crm].reinstate();
    clock.forward(31_000);
    await stage.atRest();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'C ApS', [own]: 'C ApS' });
  });
});

const longSessions = { salesforce: { sessionMs: 2 * DAY_MS } };

test('an expired session is renewed without anybody noticing', async () => {
  const clock = handClock();
  const stage = await startFixture({ clock });
  const id = await stage.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await stage.post(renamed('A ApS', 'B ApS'));
  await stage.settled();
  clock.forward(60_000);
  stage.salesforce.expireSessions();
  await stage.post(renamed('B ApS', 'C ApS', 9));
  await stage.settled();
  expect(stage.salesforce.get(id)).toMatchObject({ Name: 'C ApS' });
  expect(await pauseOf(stage, 'salesforce')).toBeUndefined();
});

test('a share of the daily allowance of Salesforce pauses the account for a quarter of an hour', async () => {
  const clock = handClock();
  const stage = await startFixture({ clock, salesforce: { daily: 21, usageJitter: 0, now: clock.now } });
  const id = await stage.addLinked('salesforce', ENTITY, { Name: 'N 0' });
  await stage.settled();
  let hour = 1;
  while ((await pauseOf(stage, 'salesforce')) === undefined && hour < 20) {
    await stage.post(renamed(`N ${hour - 1}`, `N ${hour}`, hour));
    const shows = `N ${hour}`;
    // It may be the read before the write that uses up the share.
    const written = async () =>
      stage.salesforce.get(id)?.['Name'] === shows || (await pauseOf(stage, 'salesforce')) !== undefined;
    await expect.poll(written, WAITING).toBe(true);
    hour++;
  }
  expect(await pauseOf(stage, 'salesforce')).toMatch(/17 of its 21 API calls/);
  await stage.post(renamed(`N ${hour - 1}`, `N ${hour}`, hour));
  clock.forward(15 * 60_000);
  await expect.poll(() => pauseOf(stage, 'salesforce'), WAITING).toMatch(/of its 21 API calls/);
  clock.forward(DAY_MS + 3_600_000);
  await stage.atRest();
  expect(stage.salesforce.get(id)).toMatchObject({ Name: `N ${hour}` });
});

test('what a person writes between the read of a record and the end of a pause stays', async () => {
  const clock = handClock();
  // Account, schema and read of the new link, read and write of the first change, read of the second: none is left
  // for its write.
  const stage = await startFixture({ clock, hubspot: { daily: 6, now: clock.now } });
  const id = await stage.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  await stage.settled();
  await stage.post(renamed('A ApS', 'B ApS'));
  await stage.settled();
  await stage.post(renamed('B ApS', 'C ApS', 9));
  await expect.poll(() => pauseOf(stage, 'hubspot'), WAITING).toMatch(/daily limit/);
  stage.hubspot.edit(id, { name: 'B (our best customer)' });
  clock.forward(DAY_MS);
  await stage.atRest();
  expect(stage.hubspot.get(id)).toMatchObject({ name: 'B (our best customer)', cvr_name: 'C ApS' });
});

test('the daily limit of HubSpot pauses the account until it ends', async () => {
  const clock = handClock();
  // Account, schema and read of the new link, read and write of the first change.
  const stage = await startFixture({ clock, hubspot: { daily: 5, now: clock.now } });
  const id = await stage.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  await stage.settled();
  await stage.post(renamed('A ApS', 'B ApS'));
  await expect.poll(() => stage.hubspot.get(id)?.['name'], WAITING).toBe('B ApS');
  await stage.post(renamed('B ApS', 'C ApS', 9));
  await expect.poll(() => pauseOf(stage, 'hubspot'), WAITING).toMatch(/daily limit/);
  expect(stage.hubspot.get(id)).toMatchObject({ name: 'B ApS' });
  clock.forward(DAY_MS);
  await stage.atRest();
  expect(stage.hubspot.get(id)).toMatchObject({ name: 'C ApS' });
});

const attempts = async (stage: Stage): Promise<readonly number[]> => {
  const lanes = await stage.app.store.db.selectFrom('lane').selectAll().where('queue', 'like', 'sync:%').execute();
  return lanes.map((lane) => lane.attempts);
};
