/** The daemon's reconcile: repairs what leaves no doubt, and tells a person of the rest. */
import { expect, it } from 'vitest';
import { POLL_QUEUE, pollKey } from '../../../src/connector/poll/poll-task.ts';
import { runPolls } from '../../../src/connector/poll.ts';
import { RECONCILE, reconcileTask } from '../../../src/connector/reconcile/task.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { parked } from '../../../src/runtime/lanes/lane-state.ts';
import { claim, mark } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { type Comparison, numberAt, setComparison } from './comparison.ts';

async function look(fixture: Comparison): Promise<readonly string[]> {
  const { store, crm } = fixture;
  const reported: string[] = [];
  const report =
    (level: string) =>
    (details: object, message = ''): void =>
      void reported.push(`${level} ${message} ${JSON.stringify(details)}`);
  const deps = {
    store,
    metrics: createMetrics(),
    log: { info: report('info'), warn: report('warn') },
    now: () => fixture.at,
    wakeUp: createWakeUp(),
    upstream: async () => fixture.upstream,
  };
  await store.write((tx) => mark(tx, POLL_QUEUE, [pollKey(crm.name, RECONCILE)], fixture.at));
  const claims = await claim(store, POLL_QUEUE, { limit: 1, now: fixture.at, leaseMs: 30_000 });
  await runPolls(deps, { crms: [crm] }, claims, AbortSignal.timeout(60_000));
  return reported;
}

const nextRun = async ({ store }: Comparison) =>
  store.db.selectFrom('lane').select(['due_at', 'parked_at']).where('queue', '=', POLL_QUEUE).executeTakeFirstOrThrow();

it.each(SUITE_ENGINES)(
  'repairs without asking, reports its repairs, and repeats at its interval (%s)',
  async (engine) => {
    const fixture = await setComparison({ engine });
    for (const record of ['1', '2', '3']) await fixture.agree(record, numberAt(Number(record)));
    fixture.records.delete('2');
    const reported = await look(fixture);
    expect(reported).toEqual([expect.stringMatching(/^info .*"repaired":\{"absent":1\}/u)]);
    expect(await fixture.lanes('heal:crm')).toEqual(['2']);
    expect(await nextRun(fixture)).toEqual({ due_at: fixture.at + 24 * 3_600_000, parked_at: null });
    expect(await fixture.store.db.selectFrom('scan').selectAll().execute()).toEqual([]);
  },
);

it('leaves items without a link to a person, with a hint where to look', async () => {
  const fixture = await setComparison();
  await fixture.agree('1', numberAt(1));
  fixture.service.put('crm', `CVR-1-${numberAt(2)}`, 'nobody');
  expect(await look(fixture)).toEqual([expect.stringMatching(/^warn .*cvrsync reconcile crm --dry-run/u)]);
  expect(fixture.service.changes).toEqual([]);
});

it('parks an implausible list with the reason and the remedy', async () => {
  const fixture = await setComparison();
  for (const record of ['1', '2', '3']) await fixture.agree(record, numberAt(Number(record)));
  await look(fixture);
  fixture.records.clear();
  await look(fixture);
  const [lane] = await parked(fixture.store.db, POLL_QUEUE);
  expect(lane?.error).toMatch(/lists no company at all.*--dry-run.*--allow-shrink/su);
  expect(await fixture.lanes('heal:crm')).toEqual([]);
});

it('stays parked on each repetition, because a shrunk list is not the measure of the next', async () => {
  const fixture = await setComparison();
  await fixture.agree('1', numberAt(1));
  for (let at = 10; at < 20; at += 1) fixture.records.set(String(at), {});
  await look(fixture);
  for (let at = 10; at < 20; at += 1) fixture.records.delete(String(at));
  for (const _ of ['once', 'and again']) {
    await look(fixture);
    const [lane] = await parked(fixture.store.db, POLL_QUEUE);
    expect(lane?.error).toContain('crm lists 1 companies, and listed 11 the last time');
  }
});

it('compares the CRM and the links without a service', async () => {
  const fixture = await setComparison();
  await fixture.agree('1', numberAt(1));
  await fixture.agree('2', numberAt(2));
  fixture.service.take('crm', `CVR-1-${numberAt(1)}`, '1');
  fixture.records.delete('2');
  const { found } = await fixture.reconcile({}, { upstream: undefined });
  expect(found.items).toBeUndefined();
  expect(await fixture.lanes('heal:crm')).toEqual(['2']);
  expect(await fixture.lanes('monitoring')).toEqual([]);
});

it('parks with the reason if the list of the service does not end', async () => {
  const fixture = await setComparison();
  await fixture.agree('1', numberAt(1));
  const body = { results: [], continuationToken: '1' };
  fixture.service.fault({ match: 'job-crm/items', times: 2, action: { kind: 'status', status: 200, body } });
  await look(fixture);
  const [lane] = await parked(fixture.store.db, POLL_QUEUE);
  expect(lane?.error).toBe('the items of job job-crm do not end: a continuationToken came twice');
  expect(await fixture.lanes('heal:crm')).toEqual([]);
});

it('never runs if the hours are 0', async () => {
  const fixture = await setComparison({ crm: { reconcileHours: 0 } });
  expect(reconcileTask.everyMs(fixture.crm)).toBeUndefined();
});
