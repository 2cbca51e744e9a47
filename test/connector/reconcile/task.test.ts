/** The daemon's reconcile: repairs what leaves no doubt, and tells a person of the rest. */
import { expect, it } from 'vitest';
import { POLL_QUEUE, pollKey } from '../../../src/connector/crm/poll-task.ts';
import { runPolls } from '../../../src/connector/poll.ts';
import { RECONCILE, reconcileTask } from '../../../src/connector/reconcile/task.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { claim, mark, parked } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { ENGINES } from '../../support/stores.ts';
import { type CompareStage, numberAt, setComparison } from './stage.ts';

async function look(stage: CompareStage): Promise<readonly string[]> {
  const { store, crm } = stage;
  const reported: string[] = [];
  const report =
    (level: string) =>
    (details: object, message = ''): void =>
      void reported.push(`${level} ${message} ${JSON.stringify(details)}`);
  const deps = {
    store,
    metrics: createMetrics(),
    log: { info: report('info'), warn: report('warn') },
    now: () => stage.at,
    wakeUp: createWakeUp(),
    upstream: async () => stage.upstream,
  };
  await store.write((tx) => mark(tx, POLL_QUEUE, [pollKey(crm.name, RECONCILE)], stage.at));
  const claims = await claim(store, POLL_QUEUE, { limit: 1, now: stage.at, leaseMs: 30_000 });
  await runPolls(deps, { crms: [crm] }, claims, AbortSignal.timeout(20_000));
  return reported;
}

const nextRun = async ({ store }: CompareStage) =>
  store.db.selectFrom('lane').select(['due_at', 'parked_at']).where('queue', '=', POLL_QUEUE).executeTakeFirstOrThrow();

it.each(ENGINES)('repairs without asking, says what it did, and comes again after its hours (%s)', async (engine) => {
  const stage = await setComparison({ engine });
  for (const record of ['1', '2', '3']) await stage.agree(record, numberAt(Number(record)));
  stage.records.delete('2');
  const reported = await look(stage);
  expect(reported).toEqual([expect.stringMatching(/^info .*"repaired":\{"absent":1\}/u)]);
  expect(await stage.lanes('heal:crm')).toEqual(['2']);
  expect(await nextRun(stage)).toEqual({ due_at: stage.at + 24 * 3_600_000, parked_at: null });
  expect(await stage.store.db.selectFrom('scan').selectAll().execute()).toEqual([]);
});

it('leaves items of no link to a person, and says where to look', async () => {
  const stage = await setComparison();
  await stage.agree('1', numberAt(1));
  stage.service.put('crm', `CVR-1-${numberAt(2)}`, 'nobody');
  expect(await look(stage)).toEqual([expect.stringMatching(/^warn .*cvrsync reconcile crm --dry-run/u)]);
  expect(stage.service.changes).toEqual([]);
});

it('parks where a list cannot be right, with what was strange and what to do', async () => {
  const stage = await setComparison();
  for (const record of ['1', '2', '3']) await stage.agree(record, numberAt(Number(record)));
  await look(stage);
  stage.records.clear();
  await look(stage);
  const [lane] = await parked(stage.store.db, POLL_QUEUE);
  expect(lane?.error).toMatch(/lists no company at all.*--dry-run.*--allow-shrink/su);
  expect(await stage.lanes('heal:crm')).toEqual([]);
});

it('stays in doubt however often it looks: a list that shrank is no measure of the next', async () => {
  const stage = await setComparison();
  await stage.agree('1', numberAt(1));
  for (let at = 10; at < 20; at += 1) stage.records.set(String(at), {});
  await look(stage);
  for (let at = 10; at < 20; at += 1) stage.records.delete(String(at));
  for (const _ of ['once', 'and again']) {
    await look(stage);
    const [lane] = await parked(stage.store.db, POLL_QUEUE);
    expect(lane?.error).toContain('crm lists 1 companies, and listed 11 the last time');
  }
});

it('works without a service: the CRM and the links are compared all the same', async () => {
  const stage = await setComparison();
  await stage.agree('1', numberAt(1));
  await stage.agree('2', numberAt(2));
  stage.service.take('crm', `CVR-1-${numberAt(1)}`, '1');
  stage.records.delete('2');
  const { found } = await stage.reconcile({}, { upstream: undefined });
  expect(found.items).toBeUndefined();
  expect(await stage.lanes('heal:crm')).toEqual(['2']);
  expect(await stage.lanes('monitoring')).toEqual([]);
});

it('is never run where the hours are 0', async () => {
  const stage = await setComparison({ crm: { reconcileHours: 0 } });
  expect(reconcileTask.everyMs(stage.crm)).toBeUndefined();
});
