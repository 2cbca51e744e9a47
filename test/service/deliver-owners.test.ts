import { describe, expect, it, onTestFinished } from 'vitest';
import { openClient } from '../../src/http/outbound/client.ts';
import { createGuard } from '../../src/http/outbound/guard.ts';
import { claim } from '../../src/runtime/lanes/lanes.ts';
import { createBodies } from '../../src/service/delivery/bodies.ts';
import { type RunDeps, runLane } from '../../src/service/delivery/deliver-batch.ts';
import { listDeliveries } from '../../src/service/delivery/deliveries.ts';
import { createLedger } from '../../src/service/delivery/ledger.ts';
import { createSlots } from '../../src/service/delivery/limits/slots.ts';
import type { Posted } from '../../src/service/delivery/post.ts';
import { type Entry, record } from '../../src/service/delivery/record-attempt.ts';
import { SCHEDULE } from '../../src/service/delivery/schedule.ts';
import { getMonitor } from '../../src/service/monitors/monitors.ts';
import { publish } from '../../src/service/publish/publish.ts';
import type { Store } from '../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../support/stores.ts';
import { delivering, openHook } from './delivering.ts';
import { changed, lanes, made, NOW, OTHER, secrets } from './monitored.ts';

const FAILED: Posted = {
  at: NOW,
  took: 1,
  status: 500,
  fault: null,
  error: 'answered 500',
  answer: '',
  headers: null,
  outcome: { kind: 'failed', abort: false, disable: true, overloaded: false },
  retryAfterMs: undefined,
};
const take = async (store: Store, now: number) => {
  const [one = expect.fail()] = await claim(store, 'deliver', { limit: 1, now, leaseMs: 30_000 });
  return one;
};
const states = async (store: Store) =>
  new Set((await listDeliveries(store.db, { limit: 1_000 })).map(({ state }) => state));

describe.each(SUITE_ENGINES)('a deliverer on %s', (engine) => {
  it('writes nothing after it has lost the lane', async () => {
    const store = await newStore(engine);
    const { id, url } = await made(store, { target: 'all' });
    await store.write((tx) => publish(tx, [changed()], { now: NOW }));
    const [{ seq } = expect.fail()] = await listDeliveries(store.db);
    const old = await take(store, NOW);
    const young = await take(store, NOW + 31_000);
    const entry = (held: typeof old): Entry => {
      const result = { seq, url, posted: FAILED, number: 1, state: 'failed', nextAt: 0, repeated: false } as const;
      return { claim: held, result, ending: 'if-idle' };
    };
    const late = entry(old);
    expect((await store.write((tx) => record(tx, [late], { now: NOW, secrets }))).get(late)).toBe('lost');
    expect(await states(store)).toEqual(new Set(['due']));
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({ enabled: true, failedAttempts: 0 });
    expect(await lanes(store, 'deliver')).toEqual([id]);
    const good = entry(young);
    expect((await store.write((tx) => record(tx, [good], { now: NOW, secrets }))).get(good)).toBe('settled');
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({ enabled: false });
  });

  it('posts nothing after it has lost the lane', async () => {
    const store = await newStore(engine);
    const hook = await openHook();
    const { id } = await made(store, { url: hook.url, target: 'all' });
    await store.write((tx) => publish(tx, [changed()], { now: NOW }));
    const old = await take(store, NOW);
    const now = () => NOW + 31_000;
    await take(store, now());
    const monitor = await getMonitor(store.db, secrets, id);
    if (monitor === undefined) throw new Error('it was made');
    const client = openClient({ guard: createGuard({ allow: ['127.0.0.1'] }) });
    onTestFinished(client.close);
    const lost: string[] = [];
    const deps: RunDeps = {
      log: {},
      db: store.db,
      store,
      transportTo: () => ({ http: client.http, url: hook.url }),
      now,
      random: () => 0,
      ledger: createLedger({ store, now, secrets, onWritten() {} }),
      bodies: createBodies({}),
      slots: createSlots(9),
      looks: createSlots(9),
      schedule: SCHEDULE,
      limit: () => 9,
      observe() {},
      lost: (one) => void lost.push(one),
    };
    await runLane(deps, old, monitor, AbortSignal.timeout(60_000));
    expect([hook.seen, lost, await states(store)]).toEqual([[], [id], new Set(['due'])]);
  });

  it('waits for running posts if it cannot read more, and stores their results', async () => {
    const store = await newStore(engine);
    const [open, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const hook = await openHook((response, _seen, count) => {
      if (count === 1) void open.promise.then(() => response.writeHead(204).end());
      else response.writeHead(204).end();
      asked.resolve();
    });
    await made(store, { url: hook.url, target: 'all' });
    const { publish: tell, worker, errors, now } = delivering(store, { deadlineMs: 20_000 });
    await tell(changed());
    await asked.promise;
    await store.write(async (tx) => {
      await publish(tx, [changed({ id: 'unreadable', entity: OTHER })], { now: now() });
      await tx.updateTable('change').set({ updates: '{' }).where('id', '=', 'unreadable').execute();
    });
    // It has looked in vain, and would have given the lane back.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    open.resolve();
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    await store.write((tx) => tx.deleteFrom('change').where('id', '=', 'unreadable').execute());
    await expect.poll(() => lanes(store, 'deliver'), { timeout: 120_000 }).toEqual([]);
    await worker.drained();
    expect(hook.seen).toHaveLength(1);
    expect(await states(store)).toEqual(new Set(['done', 'dropped']));
  });

  it('leaves the posts it aborts to the next process, and counts no attempt', async () => {
    const store = await newStore(engine);
    const waiting = Promise.withResolvers<void>();
    const hook = await openHook((response, _seen, count) => {
      if (count === 1) waiting.resolve();
      else response.writeHead(204).end();
    });
    await made(store, { url: hook.url, target: 'all' });
    const first = delivering(store, { deadlineMs: 60_000 });
    await first.publish(changed());
    await waiting.promise;
    await first.worker.stop(0);
    const second = delivering(store);
    await second.worker.drained();
    expect(await listDeliveries(store.db)).toMatchObject([{ state: 'done', attempts: 1 }]);
    expect(hook.seen.map(({ headers }) => headers['webhook-attempt'])).toEqual(['1', '1']);
    expect(first.errors).toEqual([]);
  });
});

it('two processes on one PostgreSQL send each delivery once, in order', async () => {
  const store = await newStore('postgres');
  const hook = await openHook();
  for (let at = 0; at < 5; at++) await made(store, { url: `${hook.url}/${at}`, target: 'all' });
  // A post that a busy machine answers late would be made again.
  const workers = [delivering(store, { deadlineMs: 20_000 }), delivering(store, { deadlineMs: 20_000 })];
  const entity = (at: number) => `CVR-1-${99_100_000 + (at % 4)}`;
  const name = (at: number) => ({ name: { before: null, after: String(at).padStart(3, '0') } });
  for (let at = 0; at < 40; at++) await workers[at % 2]?.publish(changed({ entity: entity(at), updates: name(at) }));
  await expect.poll(async () => [...(await states(store))], { timeout: 120_000 }).toEqual(['done']);
  expect(hook.seen).toHaveLength(200);
  const told = Map.groupBy(hook.seen, ({ path, entity }) => `${path} ${entity}`);
  for (const posts of told.values()) {
    const names = posts.map(({ body }) => JSON.parse(body).updates.name.after);
    expect(names).toEqual(names.toSorted());
  }
  expect(workers.flatMap(({ errors }) => errors)).toEqual([]);
});
