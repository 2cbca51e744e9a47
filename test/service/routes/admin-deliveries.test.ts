import { expect, it } from 'vitest';
import type { DeliveryTable } from '../../../src/store/service-schema.ts';
import { openHarness, problemsIn } from './harness.ts';

const DELIVERIES = '/admin/api/deliveries';
const NOON = Date.parse('2026-03-01T12:00:00Z');

const furnished = async (states: readonly DeliveryTable['state'][]) => {
  const harness = await openHarness();
  const made = await harness.call('POST', '/admin/api/monitors', {
    body: { name: 'List', url: 'https://hooks.example.com/a' },
  });
  const { id: monitor } = made.json as { id: string };
  const seqs = await harness.store.write(async (tx) => {
    const all: number[] = [];
    for (const [index, state] of states.entries()) {
      const at = NOON + index * 1_000;
      const entity = `CVR-1-1000000${index}`;
      const row = { id: `c${index}`, entity, name: `Firma ${index}`, kind: 'register' as const, updates: '{}' };
      const change = await tx
        .insertInto('change')
        .values({ ...row, timestamp: new Date(at).toISOString(), created_at: at })
        .returning('seq')
        .executeTakeFirstOrThrow();
      const delivery = await tx
        .insertInto('delivery')
        .values({
          monitor,
          entity,
          change: change.seq,
          events: '["status"]',
          attempts: 0,
          state,
          next_at: at,
          created_at: at,
        })
        .returning('seq')
        .executeTakeFirstOrThrow();
      all.push(delivery.seq);
    }
    return all;
  });
  const states_ = async () =>
    ((await harness.call('GET', DELIVERIES)).json as { state: string }[]).map(({ state }) => state).reverse();
  return { harness, monitor, seqs, states: states_ };
};

it('the admin API lists and counts deliveries by filter', async () => {
  const { harness, monitor, seqs } = await furnished(['done', 'held', 'due']);
  const [newest] = (await harness.call('GET', `${DELIVERIES}?limit=1`)).json as object[];
  expect(newest).toEqual({
    seq: seqs[2],
    monitor,
    entity: 'CVR-1-10000002',
    name: 'Firma 2',
    events: ['status'],
    state: 'due',
    attempts: 0,
    nextAt: '2026-03-01T12:00:02.000Z',
    status: null,
    error: null,
    createdAt: '2026-03-01T12:00:02.000Z',
    endedAt: null,
  });
  const count = async (query: string) => (await harness.call('GET', `${DELIVERIES}/count?${query}`)).json;
  expect(await count('')).toEqual({ count: 3 });
  expect(await count(`monitor=${monitor}&state=held`)).toEqual({ count: 1 });
  expect(await count('entity=cvr-1-10000001')).toEqual({ count: 1 });
  expect(await count('since=2026-03-01T12:00:01Z&until=2026-03-01T13:00:02%2B01:00')).toEqual({ count: 1 });
});

it('the admin API replays held deliveries of a monitor as it enables the monitor, if requested', async () => {
  const { harness, monitor, states } = await furnished(['held', 'failed', 'held']);
  const step = (path: string) => harness.call('POST', `/admin/api/monitors/${monitor}/${path}`);
  await step('disable');
  expect((await step('activate?replay=perhaps')).status).toBe(422);
  expect((await step('activate?replay=false')).status).toBe(204);
  expect(await states()).toEqual(['held', 'failed', 'held']);
  expect((await step('activate?replay=true')).status).toBe(204);
  expect(await states()).toEqual(['due', 'failed', 'due']);
});

it('the admin API drops deliveries, and returns how many', async () => {
  const { harness, states } = await furnished(['due', 'due', 'done', 'due', 'held']);
  const dropped = await harness.call('POST', `${DELIVERIES}/drop`, { body: { state: 'due', limit: 2 } });
  expect(dropped.json).toEqual({ count: 2 });
  expect(await states()).toEqual(['dropped', 'dropped', 'done', 'due', 'held']);
});

it('the admin API returns the attempts of a delivery', async () => {
  const { harness, seqs } = await furnished(['failed']);
  const attempt = { at: NOON, took: 12, number: 1, status: 500, fault: null, answer: 'no' };
  const headers = { 'x-request-id': '7' };
  await harness.store.write((tx) =>
    tx
      .insertInto('attempt')
      .values({ ...attempt, headers: JSON.stringify(headers), delivery: seqs[0] ?? 0 })
      .execute(),
  );
  const answer = await harness.call('GET', `${DELIVERIES}/${seqs[0]}/attempts`);
  expect(answer.json).toEqual([{ ...attempt, headers, at: '2026-03-01T12:00:00.000Z', done: false }]);
});

it('the admin API sends a delivery now, and wakes its worker', async () => {
  const { harness, seqs, states } = await furnished(['failed', 'held', 'due', 'done', 'due']);
  await harness.store.write((tx) =>
    tx
      .updateTable('delivery')
      .set({ attempts: 2 })
      .where('seq', '=', seqs[4] ?? 0)
      .execute(),
  );
  expect(await states()).toEqual(['failed', 'held', 'due', 'done', 'failing']);
  const send = async (seq = 0) => (await harness.call('POST', `${DELIVERIES}/${seq}/send`)).json;
  expect(await send(seqs[4])).toEqual({ count: 1 });
  expect(await send(seqs[4])).toEqual({ count: 0 });
  expect(await send(seqs[3])).toEqual({ count: 1 });
  expect(harness.rung.at(-1)).toBe('deliver');
  expect(await states()).toEqual(['failed', 'held', 'due', 'due', 'due']);
});

it.each([
  ['GET', '?state=lost', undefined, 'querystring.state '],
  ['GET', '?entity=Nordlys', undefined, 'querystring.entity '],
  ['GET', '?since=yesterday', undefined, 'querystring.since '],
  ['GET', '?limit=0', undefined, 'querystring.limit '],
  ['GET', '?limit=100000', undefined, 'querystring.limit '],
  ['GET', '/count?until=1', undefined, 'querystring.until '],
  ['GET', '/-1/attempts', undefined, 'params.seq '],
  ['POST', '/drop', { limit: -1 }, 'body.limit '],
  ['POST', '/drop', { everything: true }, 'body.everything '],
  ['POST', '/drop', { entity: 'Nordlys' }, 'body.entity '],
  ['POST', '/-1/send', undefined, 'params.seq '],
])('answers 422 and names the place: %s %s %j', async (method, path, body, problem) => {
  const { harness } = await furnished(['held']);
  const answer = await harness.call(method, `${DELIVERIES}${path}`, { body });
  expect(answer.status).toBe(422);
  expect(problemsIn(answer)).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
});
