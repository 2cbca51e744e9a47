import { describe, expect, it, onTestFinished } from 'vitest';
import { endLink, findLink, linkRecord, MONITORING_QUEUE } from '../../src/connector/links.ts';
import { type MonitoringDeps, monitorLinks, remarkMonitoring } from '../../src/connector/monitoring.ts';
import { openUpstream, upstreamPace } from '../../src/connector/upstream.ts';
import { type Http, openClient } from '../../src/http/client.ts';
import { claim } from '../../src/runtime/lanes.ts';
import type { Store } from '../../src/store/open.ts';
import { type FakeService, serveService, tooMany } from '../support/service.ts';
import { ENGINES, newStore } from '../support/stores.ts';

const never = new AbortController().signal;
const entityOf = (recordId: string): string => `CVR-1-1000000${recordId}`;

interface Ground extends MonitoringDeps {
  readonly store: Store;
  readonly service: FakeService;
  at: number;
  /** Calls that were made. */
  calls: number;
}

const setup = async (engine: (typeof ENGINES)[number], recordIds: readonly string[] = ['1']): Promise<Ground> => {
  const [store, service] = [await newStore(engine), await serveService()];
  const client = openClient({ deadlineMs: 10_000 });
  onTestFinished(() => client.close());
  const { url: baseUrl, accessKey } = service;
  const ground = { store, service, at: 1_000, calls: 0, now: () => ground.at };
  const http: Http = (asked) => {
    ground.calls++;
    return client.http(asked);
  };
  const pace = upstreamPace(store, 60_000, Date.now);
  for (const recordId of recordIds) await link(ground, recordId);
  return Object.assign(ground, { upstream: openUpstream({ baseUrl, accessKey, http, pace }) });
};

const link = ({ store, at }: { store: Store; at: number }, recordId: string, sendUpdate = false) =>
  store.write((tx) => linkRecord(tx, { provider: 'crm', recordId, entity: entityOf(recordId), sendUpdate, now: at }));
const end = ({ store, at }: Ground, recordId: string) =>
  store.write((tx) => endLink(tx, { provider: 'crm', recordId, state: 'removed', reason: 'asked', now: at }));
const run = async (ground: Ground, signal = never) => {
  const claims = await claim(ground.store, MONITORING_QUEUE, { limit: 100, now: ground.at, leaseMs: 30_000 });
  await monitorLinks(ground, claims, signal);
  return claims.length;
};
const rowOf = ({ store }: Ground, recordId = '1') => findLink(store.db, { provider: 'crm', recordId });
const lanesOf = ({ store }: Ground) =>
  store.db.selectFrom('lane').selectAll().where('queue', '=', MONITORING_QUEUE).orderBy('key').execute();

describe.each(ENGINES)('monitoring on %s', (engine) => {
  it('adds what is linked, many at a time, and remembers that upstream said yes', async () => {
    const recordIds = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const ground = await setup(engine, recordIds);
    await run(ground);
    expect(ground.service.items('crm').toSorted()).toEqual(recordIds.map((id) => `${entityOf(id)} ${id}`));
    expect(await rowOf(ground, '9')).toMatchObject({ monitored: 'on', monitored_at: 1_000, monitored_error: null });
    expect(await lanesOf(ground)).toEqual([]);
  });

  it('asks for an update once', async () => {
    const ground = await setup(engine);
    await run(ground);
    await link(ground, '1', true);
    await run(ground);
    await link(ground, '1');
    expect(await run(ground)).toBe(0);
    expect(ground.service.changes).toEqual([`add crm ${entityOf('1')} 1`, `add crm ${entityOf('1')} 1 +update`]);
    expect(await rowOf(ground)).toMatchObject({ send_update: 0 });
  });

  it('removes what ended, and calls nobody where nothing is due', async () => {
    const ground = await setup(engine);
    await run(ground);
    await end(ground, '1');
    await run(ground);
    expect(ground.service.items('crm')).toEqual([]);
    expect(await rowOf(ground)).toMatchObject({ monitored: 'off', state: 'removed' });
    const { calls } = ground;
    await ground.store.write((tx) =>
      tx
        .insertInto('lane')
        .values({ queue: 'monitoring', key: 'crm:1', due_at: 0, marks: 1, attempts: 0, since: 0 })
        .execute(),
    );
    expect([await run(ground), ground.calls, await lanesOf(ground)]).toEqual([1, calls, []]);
  });

  it('parks what upstream refuses with its reason, and goes on when it is asked again', async () => {
    const ground = await setup(engine, ['1', '2']);
    ground.service.refuse(entityOf('1'), 404, 'No such company');
    await run(ground);
    expect(await rowOf(ground)).toMatchObject({ monitored: 'refused', monitored_error: 'No such company (404)' });
    expect(await lanesOf(ground)).toMatchObject([
      { key: 'crm:1', due_at: null, parked_at: 1_000, error: 'No such company (404)' },
    ]);
    expect(await rowOf(ground, '2')).toMatchObject({ monitored: 'on' });
    expect(await ground.store.write((tx) => remarkMonitoring(tx, ground.at))).toBe(0);
    ground.service.allow(entityOf('1'));
    await link(ground, '1');
    await run(ground);
    expect(await rowOf(ground)).toMatchObject({ monitored: 'on', monitored_error: null });
  });

  it('keeps a refused removal for a person', async () => {
    const ground = await setup(engine);
    await run(ground);
    ground.service.refuse(entityOf('1'), 422, 'Locked');
    await end(ground, '1');
    await run(ground);
    expect(await rowOf(ground)).toMatchObject({ monitored: 'on', monitored_error: 'Locked (422)', wish: 'off' });
    expect(await lanesOf(ground)).toMatchObject([{ parked_at: 1_000 }]);
  });

  it('tries again after a fault, however often, and counts', async () => {
    const ground = await setup(engine);
    ground.service.fault({ match: 'POST', times: 2, action: { kind: 'status', status: 502 } });
    await run(ground);
    expect(await lanesOf(ground)).toMatchObject([{ attempts: 1, parked_at: null, epoch: null }]);
    expect(await rowOf(ground)).toMatchObject({ monitored: 'unknown', monitored_at: null });
    ground.at += 100 * 3_600_000;
    await run(ground);
    expect(await lanesOf(ground)).toMatchObject([{ attempts: 2, parked_at: null }]);
    ground.at += 3_600_000;
    await run(ground);
    expect([await lanesOf(ground), ground.service.items('crm').length]).toEqual([[], 1]);
  });

  it('waits without a call or a count while the account is paused', async () => {
    const recordIds = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const ground = await setup(engine, recordIds);
    ground.service.fault({ match: 'POST', times: 10, action: tooMany('60') });
    await run({ ...ground, concurrency: 4 });
    expect(ground.calls).toBeLessThanOrEqual(4);
    const lanes = await lanesOf(ground);
    expect(lanes.length).toBe(10);
    for (const lane of lanes) {
      expect(lane).toMatchObject({ attempts: 0, epoch: null, error: 'Rate limit exceeded (429)' });
      expect(lane.due_at).toBeGreaterThan(ground.at + 50_000);
    }
  });

  it('repairs a call whose answer was lost, also where the wish turned meanwhile', async () => {
    const ground = await setup(engine);
    ground.service.fault({ match: 'POST', action: { kind: 'reset', applied: true } });
    await run(ground);
    expect(ground.service.items('crm').length).toBe(1);
    await end(ground, '1');
    ground.at += 3_600_000;
    await run(ground);
    expect([ground.service.items('crm'), await lanesOf(ground)]).toEqual([[], []]);

    await link(ground, '1');
    await run(ground);
    ground.service.fault({ match: 'DELETE', action: { kind: 'reset', applied: true } });
    await end(ground, '1');
    await run(ground);
    await link(ground, '1');
    ground.at += 3_600_000;
    await run(ground);
    expect(ground.service.items('crm').length).toBe(1);
    expect(await rowOf(ground)).toMatchObject({ monitored: 'on' });
  });

  it('runs once more where the wish turned during the call', async () => {
    const ground = await setup(engine);
    const claims = await claim(ground.store, MONITORING_QUEUE, { limit: 1, now: ground.at, leaseMs: 30_000 });
    ground.service.fault({ match: 'POST', action: { kind: 'slow', ms: 100 } });
    const running = monitorLinks(ground, claims, never);
    await expect.poll(() => ground.calls).toBe(1);
    await end(ground, '1');
    await running;
    await run(ground);
    expect([ground.service.items('crm'), await lanesOf(ground)]).toEqual([[], []]);
    expect(await rowOf(ground)).toMatchObject({ monitored: 'off' });
  });

  it('says nothing about a link whose lease was lost', async () => {
    const ground = await setup(engine);
    const claims = await claim(ground.store, MONITORING_QUEUE, { limit: 1, now: ground.at, leaseMs: 30_000 });
    ground.at += 31_000;
    await claim(ground.store, MONITORING_QUEUE, { limit: 1, now: ground.at, leaseMs: 30_000 });
    await monitorLinks(ground, claims, never);
    expect(await rowOf(ground)).toMatchObject({ monitored: 'unknown' });
    expect(await lanesOf(ground)).toMatchObject([{ epoch: expect.any(Number) }]);
  });

  it('stops between calls where it is told to, and keeps what was done', async () => {
    const ground = await setup(engine, ['1', '2', '3']);
    const stop = new AbortController();
    ground.service.fault({ match: 'POST', after: 1, action: { kind: 'hang' } });
    const running = run({ ...ground, concurrency: 1 }, stop.signal);
    await expect.poll(async () => (await rowOf(ground))?.monitored).toBe('on');
    stop.abort(new Error('stopping'));
    await expect(running).rejects.toThrow('stopping');
    expect((await lanesOf(ground)).map(({ key }) => key)).toEqual(['crm:2', 'crm:3']);
  });

  it('keeps the wish without an upstream, and sends it once there is one', async () => {
    const ground = await setup(engine, ['1', '2']);
    await run({ ...ground, upstream: undefined });
    await end(ground, '2');
    await run({ ...ground, upstream: undefined });
    expect(await lanesOf(ground)).toEqual([]);
    expect(await rowOf(ground)).toMatchObject({ monitored: 'unknown', monitored_at: null });
    const remark = () => ground.store.write((tx) => remarkMonitoring(tx, ground.at));
    expect([await remark(), await remark()]).toEqual([2, 0]);
    await run(ground);
    expect(ground.service.items('crm')).toEqual([`${entityOf('1')} 1`]);
    expect(await remark()).toBe(0);
  });
});
