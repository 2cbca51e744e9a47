/** Bad hours: of the CRM, of the monitoring service, and of who else spends the account's calls. */
import { describe, expect, it } from 'vitest';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { handClock } from '../../support/clock.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { tooMany } from '../../support/service.ts';
import { startFixture } from './fixture.ts';

const HOUR_MS = 3_600_000;
const DOWN = { kind: 'status', status: 503, body: {} } as const;

const add = (fixture: { add(number: string): string }, count: number): void => {
  for (let at = 0; at < count; at++) fixture.add(cvrNumber(at));
};

describe('the monitoring service', () => {
  it('may be away for an hour: everything is added once it is back, and nothing twice', async () => {
    const clock = handClock();
    const began = clock.now();
    const fixture = await startFixture({ clock, isServiceAway: () => clock.now() - began < HOUR_MS });
    add(fixture, 5);
    expect((await fixture.run()).ended).toBe('done');
    expect(clock.now() - began).toBeGreaterThan(HOUR_MS);
    expect(fixture.service.items('hubspot')).toHaveLength(5);
    expect(fixture.service.changes).toHaveLength(5);
    expect(fixture.steps.some(({ trouble }) => trouble !== undefined)).toBe(true);
  });

  it('is not called before its Retry-After', async () => {
    const clock = handClock();
    const fixture = await startFixture({ clock });
    add(fixture, 5);
    fixture.service.fault({ match: 'POST', action: tooMany('300') });
    const began = clock.now();
    expect((await fixture.run()).ended).toBe('done');
    expect(clock.now() - began).toBeGreaterThan(300_000);
    // Those that were under way when the answer came are all that was asked in vain.
    expect(fixture.service.requests.length).toBeLessThan(5 + 5);
    expect(fixture.service.changes).toHaveLength(5);
  });
});

it('ends while people keep working, because it does not wait for later calls', async () => {
  const clock = handClock();
  const adding: Promise<void>[] = [];
  const enough = 400;
  const fixture = await startFixture({
    clock,
    // Each call that is made is followed by a new link that wants one.
    isServiceAway: () => {
      const at = adding.length;
      if (at < enough) adding.push(fixture.link(`${900_000 + at}`, `CVR-1-${cvrNumber(1_000 + at)}`));
      return false;
    },
  });
  add(fixture, 5);
  expect((await fixture.run()).ended).toBe('done');
  await Promise.all(adding);
  expect(adding.length).toBeLessThan(enough);
  const added = new Set(fixture.service.items('hubspot'));
  expect(
    Object.entries(await fixture.links()).filter(
      ([id, link]) => Number(id) < 900_000 && !added.has(`${link.split(' ')[0]} ${id}`),
    ),
  ).toEqual([]);
});

describe('the CRM', () => {
  it('may be unavailable for a while', async () => {
    const clock = handClock();
    const fixture = await startFixture({ clock });
    add(fixture, 210);
    fixture.emulator.fault({ match: 'GET .*companies', after: 1, times: 4, action: DOWN });
    fixture.emulator.fault({ match: 'GET .*companies', after: 1, times: 1, action: { kind: 'cut' } });
    fixture.emulator.fault({ match: 'POST .*batch/read', times: 2, action: { kind: 'reset' } });
    expect(await fixture.run()).toMatchObject({ ended: 'done', scanned: 210 });
    expect(await fixture.outcome()).toMatchObject({ linked: 210, failed: 0 });
  });

  it('ends the backfill after half an hour without an answer, which resumes later', async () => {
    const clock = handClock();
    const fixture = await startFixture({ clock });
    add(fixture, 250);
    fixture.emulator.fault({ match: 'GET .*companies', after: 2, times: 45, action: DOWN });
    const began = clock.now();
    await expect(fixture.run()).rejects.toThrow();
    expect(clock.now() - began).toBeGreaterThan(HOUR_MS / 2);
    let starts = 0;
    for (let phase = ''; phase !== 'done'; starts += 1)
      phase = await fixture.run().then(
        (run) => run.phase,
        () => 'again',
      );
    expect(starts).toBeLessThan(4);
    // Each page was stored once, however often it was asked for.
    expect(fixture.steps.filter(({ seen }) => seen !== undefined)).toHaveLength(3);
  });

  it('is not called again if it refuses the key', async () => {
    const fixture = await startFixture();
    add(fixture, 5);
    fixture.emulator.fault({ match: 'GET .*companies', times: 99, action: { kind: 'status', status: 401, body: {} } });
    const before = fixture.emulator.calls.length;
    await expect(fixture.run()).rejects.toThrow();
    expect(fixture.emulator.calls.length - before).toBeLessThan(5);
  });

  it('stops the backfill when its daily calls are used up, with a message', async () => {
    const clock = handClock();
    const emulator = await startHubspotEmulator({ rate: 'none', daily: 5, now: clock.now });
    const fixture = await startFixture({ emulator, clock });
    add(fixture, 1_000);
    await expect(fixture.run()).rejects.toThrow(/daily|day/iu);
  });
});

it('continues at half the speed if another app uses half of the calls, and misses nothing', async () => {
  const rate = { calls: 10, perMs: 1_000 };
  const clock = handClock();
  const emulator = await startHubspotEmulator({ rate, now: clock.now });
  const fixture = await startFixture({ emulator, clock });
  add(fixture, 600);
  const stop = new AbortController();
  const { accessToken } = emulator.settings;
  // Another app of the same account: 5 calls a second, whatever we do.
  const other = (async () => {
    let calls = 0;
    while (!stop.signal.aborted) {
      await fetch(`${emulator.url}/crm/objects/2026-09/companies?limit=1`, {
        headers: { authorization: `Bearer ${accessToken}` },
      }).then((answer) => answer.arrayBuffer());
      calls += 1;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return calls;
  })();
  expect(await fixture.run()).toMatchObject({ ended: 'done', scanned: 600 });
  stop.abort();
  expect(await other).toBeGreaterThan(5);
  expect(await fixture.outcome()).toMatchObject({ linked: 600, failed: 0 });
  expect(fixture.steps.filter(({ seen }) => seen !== undefined)).toHaveLength(6);
});
