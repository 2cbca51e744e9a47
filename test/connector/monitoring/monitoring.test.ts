import { describe, expect, it, onTestFinished } from 'vitest';
import { endLink, findLink, linkRecord } from '../../../src/connector/links/links.ts';
import { type MonitoringDeps, markUnconfirmed, monitorLinks } from '../../../src/connector/monitoring/monitoring.ts';
import { openUpstream, upstreamRateLimiter } from '../../../src/connector/monitoring/upstream.ts';
import { MONITORING_QUEUE } from '../../../src/connector/names/queues.ts';
import { type OutboundHttp, openClient } from '../../../src/http/outbound/client.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import type { Store } from '../../../src/store/store.ts';
import { type FakeService, serveService, tooMany } from '../../support/service.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';

const never = new AbortController().signal;
const entityOf = (recordId: string): string => `CVR-1-1000000${recordId}`;

interface Fixture extends MonitoringDeps {
  readonly store: Store;
  readonly service: FakeService;
  at: number;
  /** Calls that were made. */
  calls: number;
}

const setup = async (engine: (typeof ENGINES)[number], recordIds: readonly string[] = ['1']): Promise<Fixture> => {
  const [store, service] = [await newStore(engine), await serveService()];
  const client = openClient({ deadlineMs: 10_000 });
  onTestFinished(() => client.close());
  const { url: baseUrl, accessKey } = service;
  const fixture = { store, service, at: 1_000, calls: 0, now: () => fixture.at };
  const http: OutboundHttp = (asked) => {
    fixture.calls++;
    return client.http(asked);
  };
  const rateLimiter = upstreamRateLimiter(store, 60_000, Date.now);
  for (const recordId of recordIds) await link(fixture, recordId);
  return Object.assign(fixture, { upstream: openUpstream({ baseUrl, accessKey, http, rateLimiter }) });
};

const link = ({ store, at }: { store: Store; at: number }, recordId: string, sendUpdate = false) =>
  store.write((tx) => linkRecord(tx, { provider: 'crm', recordId, entity: entityOf(recordId), sendUpdate, now: at }));
const end = ({ store, at }: Fixture, recordId: string) =>
  store.write((tx) => endLink(tx, { provider: 'crm', recordId, state: 'removed', reason: 'asked', now: at }));
const run = async (fixture: Fixture, signal = never) => {
  const claims = await claim(fixture.store, MONITORING_QUEUE, { limit: 100, now: fixture.at, leaseMs: 30_000 });
  await monitorLinks(fixture, claims, signal);
  return claims.length;
};
const rowOf = ({ store }: Fixture, recordId = '1') => findLink(store.db, { provider: 'crm', recordId });
const lanesOf = ({ store }: Fixture) =>
  store.db.selectFrom('lane').selectAll().where('queue', '=', MONITORING_QUEUE).orderBy('key').execute();

describe.each(SUITE_ENGINES)('monitoring on %s', (engine) => {
  it('adds links in batches, and stores the confirmations', async () => {
    const recordIds = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const fixture = await setup(engine, recordIds);
    await run(fixture);
    expect(fixture.service.items('crm').toSorted()).toEqual(recordIds.map((id) => `${entityOf(id)} ${id}`));
    expect(await rowOf(fixture, '9')).toMatchObject({ observed: 'on', observed_at: 1_000, observed_error: null });
    expect(await lanesOf(fixture)).toEqual([]);
  });

  it('requests an update once', async () => {
    const fixture = await setup(engine);
    await run(fixture);
    await link(fixture, '1', true);
    await run(fixture);
    await link(fixture, '1');
    expect(await run(fixture)).toBe(0);
    expect(fixture.service.changes).toEqual([`add crm ${entityOf('1')} 1`, `add crm ${entityOf('1')} 1 +update`]);
    expect(await rowOf(fixture)).toMatchObject({ send_update: 0 });
  });

  it('removes ended links, and makes no call if nothing is due', async () => {
    const fixture = await setup(engine);
    await run(fixture);
    await end(fixture, '1');
    await run(fixture);
    expect(fixture.service.items('crm')).toEqual([]);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'off', state: 'removed' });
    const { calls } = fixture;
    await fixture.store.write((tx) =>
      tx
        .insertInto('lane')
        .values({ queue: 'monitoring', key: 'crm:1', due_at: 0, marks: 1, attempts: 0, since: 0 })
        .execute(),
    );
    expect([await run(fixture), fixture.calls, await lanesOf(fixture)]).toEqual([1, calls, []]);
  });

  it('parks refused links with the reason, and continues after a retry', async () => {
    const fixture = await setup(engine, ['1', '2']);
    fixture.service.refuse(entityOf('1'), 404, 'No such company');
    await run(fixture);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'refused', observed_error: 'No such company (404)' });
    expect(await lanesOf(fixture)).toMatchObject([
      { key: 'crm:1', due_at: null, parked_at: 1_000, error: 'No such company (404)' },
    ]);
    expect(await rowOf(fixture, '2')).toMatchObject({ observed: 'on' });
    expect(await fixture.store.write((tx) => markUnconfirmed(tx, fixture.at))).toBe(0);
    fixture.service.allow(entityOf('1'));
    await link(fixture, '1');
    await run(fixture);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'on', observed_error: null });
  });

  it('keeps a refused removal for a person', async () => {
    const fixture = await setup(engine);
    await run(fixture);
    fixture.service.refuse(entityOf('1'), 422, 'Locked');
    await end(fixture, '1');
    await run(fixture);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'on', observed_error: 'Locked (422)', desired: 'off' });
    expect(await lanesOf(fixture)).toMatchObject([{ parked_at: 1_000 }]);
  });

  it('retries after every fault, and counts the attempts', async () => {
    const fixture = await setup(engine);
    fixture.service.fault({ match: 'POST', times: 2, action: { kind: 'status', status: 502 } });
    await run(fixture);
    expect(await lanesOf(fixture)).toMatchObject([{ attempts: 1, parked_at: null, fence: null }]);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'unknown', observed_at: null });
    fixture.at += 100 * 3_600_000;
    await run(fixture);
    expect(await lanesOf(fixture)).toMatchObject([{ attempts: 2, parked_at: null }]);
    fixture.at += 3_600_000;
    await run(fixture);
    expect([await lanesOf(fixture), fixture.service.items('crm').length]).toEqual([[], 1]);
  });

  it('waits without a call or a count while the account is paused', async () => {
    const recordIds = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const fixture = await setup(engine, recordIds);
    fixture.service.fault({ match: 'POST', times: 10, action: tooMany('60') });
    await run({ ...fixture, concurrency: 4 });
    expect(fixture.calls).toBeLessThanOrEqual(4);
    const lanes = await lanesOf(fixture);
    expect(lanes.length).toBe(10);
    for (const lane of lanes) {
      expect(lane).toMatchObject({ attempts: 0, fence: null, error: 'Rate limit exceeded (429)' });
      expect(lane.due_at).toBeGreaterThan(fixture.at + 50_000);
    }
  });

  it('repairs a call whose answer was lost, even if the desired state changed meanwhile', async () => {
    const fixture = await setup(engine);
    fixture.service.fault({ match: 'POST', action: { kind: 'reset', applied: true } });
    await run(fixture);
    expect(fixture.service.items('crm').length).toBe(1);
    await end(fixture, '1');
    fixture.at += 3_600_000;
    await run(fixture);
    expect([fixture.service.items('crm'), await lanesOf(fixture)]).toEqual([[], []]);

    await link(fixture, '1');
    await run(fixture);
    fixture.service.fault({ match: 'DELETE', action: { kind: 'reset', applied: true } });
    await end(fixture, '1');
    await run(fixture);
    await link(fixture, '1');
    fixture.at += 3_600_000;
    await run(fixture);
    expect(fixture.service.items('crm').length).toBe(1);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'on' });
  });

  it('runs again if the desired state changed during the call', async () => {
    const fixture = await setup(engine);
    const claims = await claim(fixture.store, MONITORING_QUEUE, { limit: 1, now: fixture.at, leaseMs: 30_000 });
    fixture.service.fault({ match: 'POST', action: { kind: 'slow', ms: 100 } });
    const running = monitorLinks(fixture, claims, never);
    await expect.poll(() => fixture.calls).toBe(1);
    await end(fixture, '1');
    await running;
    await run(fixture);
    expect([fixture.service.items('crm'), await lanesOf(fixture)]).toEqual([[], []]);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'off' });
  });

  it('stores nothing about a link whose lease was lost', async () => {
    const fixture = await setup(engine);
    const claims = await claim(fixture.store, MONITORING_QUEUE, { limit: 1, now: fixture.at, leaseMs: 30_000 });
    fixture.at += 31_000;
    await claim(fixture.store, MONITORING_QUEUE, { limit: 1, now: fixture.at, leaseMs: 30_000 });
    await monitorLinks(fixture, claims, never);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'unknown' });
    expect(await lanesOf(fixture)).toMatchObject([{ fence: expect.any(Number) }]);
  });

  it('sends nothing if it froze while it waited for the rate limiter, and another process removed the link', async () => {
    const fixture = await setup(engine);
    const { upstream, service } = fixture;
    if (upstream === undefined) throw new Error('there is one');
    const add: typeof upstream.add = async (...call) => {
      fixture.at += 40_000;
      await end(fixture, '1');
      expect(await run(fixture)).toBe(1);
      return upstream.add(...call);
    };
    await run({ ...fixture, upstream: { ...upstream, add } });
    expect(service.requests.map((request) => request.split(' ')[0])).toEqual(['DELETE']);
    expect([service.items('crm'), await lanesOf(fixture)]).toEqual([[], []]);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'off' });
  });

  it('stops between calls on request, and keeps the results', async () => {
    const fixture = await setup(engine, ['1', '2', '3']);
    const stop = new AbortController();
    fixture.service.fault({ match: 'POST', after: 1, action: { kind: 'hang' } });
    const running = run({ ...fixture, concurrency: 1 }, stop.signal);
    await expect.poll(async () => (await rowOf(fixture))?.observed).toBe('on');
    stop.abort(new Error('stopping'));
    await expect(running).rejects.toThrow('stopping');
    expect((await lanesOf(fixture)).map(({ key }) => key)).toEqual(['crm:2', 'crm:3']);
  });

  it('keeps the desired state without a service, and sends it once one is configured', async () => {
    const fixture = await setup(engine, ['1', '2']);
    await run({ ...fixture, upstream: undefined });
    await end(fixture, '2');
    await run({ ...fixture, upstream: undefined });
    expect(await lanesOf(fixture)).toEqual([]);
    expect(await rowOf(fixture)).toMatchObject({ observed: 'unknown', observed_at: null });
    const remark = () => fixture.store.write((tx) => markUnconfirmed(tx, fixture.at));
    expect([await remark(), await remark()]).toEqual([2, 0]);
    await run(fixture);
    expect(fixture.service.items('crm')).toEqual([`${entityOf('1')} 1`]);
    expect(await remark()).toBe(0);
  });
});
