import { describe, expect, it } from 'vitest';
import {
  attemptsOf,
  countDeliveries,
  countUpTo,
  dropDeliveries,
  listDeliveries,
  replayDeliveries,
  replayHeld,
  sendDelivery,
} from '../../../src/service/delivery/deliveries.ts';
import { pageDeliveries } from '../../../src/service/delivery/listing/delivery-page.ts';
import { trimDeliveries } from '../../../src/service/delivery/trim.ts';
import { activate, disable, getMonitor } from '../../../src/service/monitors/monitors.ts';
import type { Store } from '../../../src/store/store.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { delivering, openHook, statuses } from '../delivering.ts';
import { COMPANY, changed, lanes, made, OTHER, secrets } from '../monitored.ts';

const DAY = 86_400_000;
const STEADY = new AbortController().signal;
const states = async (store: Store) => (await listDeliveries(store.db)).map(({ state }) => state).toReversed();

/** A monitor of everything that is off, and what delivers to it. */
async function switchedOff(engine: (typeof ENGINES)[number]) {
  const store = await newStore(engine);
  const hook = await openHook();
  const { id } = await made(store, { url: hook.url, target: 'all' });
  const { publish, worker, now } = delivering(store);
  await store.write((tx) => disable(tx, id, 'person', now()));
  return { store, hook, id, publish, worker, now };
}

describe.each(SUITE_ENGINES)('deliveries on %s', (engine) => {
  it('are listed newest first, and filtered and counted', async () => {
    const store = await newStore(engine);
    const hook = await openHook();
    const [one, two] = [
      await made(store, { url: hook.url, target: 'all' }),
      await made(store, { url: hook.url, target: 'all' }),
    ];
    const { publish, worker, now } = delivering(store);
    await publish(changed(), changed({ entity: OTHER }));
    await worker.drained();
    await store.write((tx) => disable(tx, two.id, 'person', now()));
    await publish(changed());
    await worker.drained();
    const all = await listDeliveries(store.db);
    expect(all).toHaveLength(6);
    expect(all.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq).toSorted((a, b) => b - a));
    expect(all[0]).toMatchObject({ entity: COMPANY, name: 'Havblik Handel ApS', events: ['name'] });
    const found = (filter: Parameters<typeof listDeliveries>[1]) =>
      Promise.all([countDeliveries(store.db, filter), listDeliveries(store.db, filter).then((list) => list.length)]);
    expect(await found({ monitor: one.id })).toEqual([3, 3]);
    expect(await found({ monitor: two.id, state: 'held' })).toEqual([1, 1]);
    expect(await found({ entity: OTHER })).toEqual([2, 2]);
    expect(await found({ since: now() + DAY })).toEqual([0, 0]);
    expect(await found({ until: now() + DAY, limit: 2 })).toEqual([6, 2]);
    expect(await found({ seq: all[0]?.seq ?? 0 })).toEqual([1, 1]);
  });

  it('that were held are sent in order when they are replayed, once their monitor is enabled', async () => {
    const { store, hook, id, publish, worker, now } = await switchedOff(engine);
    const [first, second] = [changed(), changed()];
    await publish(first, second);
    const replay = () => store.write((tx) => replayDeliveries(tx, { monitor: id }, now()));
    expect(await replay()).toBe(0);
    await store.write((tx) => activate(tx, id, now()));
    await worker.drained();
    expect(hook.seen).toHaveLength(0);
    expect(await countDeliveries(store.db, { monitor: id, state: 'held' })).toBe(2);
    expect(await replay()).toBe(2);
    await worker.drained();
    expect(await states(store)).toEqual(['done', 'done']);
    expect(new Set(hook.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    expect(await replay()).toBe(0);
  });

  it('that were held are sent before any later change if they are replayed as their monitor is enabled', async () => {
    const { store, hook, id, publish, worker, now } = await switchedOff(engine);
    const at = (minute: number) => changed({ timestamp: `2026-09-01T08:0${minute}:00.000Z` });
    await publish(at(1), at(2));
    const replayed = await store.write(async (tx) => {
      await activate(tx, id, now());
      return replayHeld(tx, id, now());
    });
    expect(replayed).toBe(2);
    await publish(at(3));
    await worker.drained();
    const told = hook.seen.map(({ body }): { timestamp: string } => JSON.parse(body));
    expect(told.map(({ timestamp }) => timestamp)).toEqual([1, 2, 3].map((minute) => at(minute).timestamp));
  });

  it('that were given up restart their schedule under their old id, and do not count as new failures', async () => {
    const store = await newStore(engine);
    const hook = await openHook(statuses(500, 500, 500, 500, 204));
    const { id } = await made(store, { url: hook.url, target: 'all', schedule: [0, 10] });
    const { publish, later, worker, now } = delivering(store);
    await publish(changed());
    await worker.drained();
    await later(11_000);
    expect(await states(store)).toEqual(['failed']);
    expect(await store.write((tx) => replayDeliveries(tx, { state: 'failed' }, now()))).toBe(1);
    await worker.drained();
    await later(11_000);
    expect(await states(store)).toEqual(['failed']);
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({ failedAttempts: 2 });
    expect(await store.write((tx) => replayDeliveries(tx, {}, now()))).toBe(1);
    await worker.drained();
    expect(hook.seen.map(({ headers }) => headers['webhook-attempt'])).toEqual(['1', '2', '3', '4', '5']);
    expect(new Set(hook.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const [delivery = expect.fail()] = await listDeliveries(store.db);
    expect(delivery.state).toBe('done');
    expect((await attemptsOf(store.db, delivery.seq)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({ failedAttempts: 0, failingSince: null });
  });

  it('that are being retried are listed as failing, and are sent at once on request', async () => {
    const store = await newStore(engine);
    const hook = await openHook(statuses(500, 500, 204));
    const one = await made(store, { url: hook.url, target: 'all', schedule: [0, 3_600, 3_600] });
    const { publish, worker, now } = delivering(store);
    // The second waits behind the first of its company.
    await publish(changed(), changed());
    await worker.drained();
    expect(await states(store)).toEqual(['failing', 'due']);
    const failing = await listDeliveries(store.db, { state: 'failing' });
    expect(failing).toMatchObject([{ attempts: 1, nextAt: expect.any(Number), error: 'answered 500' }]);
    expect((await listDeliveries(store.db, { state: 'due' })).map(({ attempts }) => attempts)).toEqual([0]);
    const page = await pageDeliveries(store.db, { state: 'failing', monitor: one.id }, 10);
    expect(page).toMatchObject({ deliveries: [{ state: 'failing' }], older: undefined });
    expect(await countUpTo(store.db, 10, { state: 'failing' })).toBe(1);
    const { seq = 0 } = failing[0] ?? {};
    expect(await store.write((tx) => sendDelivery(tx, seq, now()))).toBe('sent');
    // Twice asked is once sent.
    expect(await store.write((tx) => sendDelivery(tx, seq, now()))).toBe('due');
    await worker.drained();
    expect([hook.seen.length, await states(store)]).toEqual([2, ['failing', 'due']]);
    // All since a time: also what others fail, were held or given up.
    expect(await store.write((tx) => replayDeliveries(tx, { since: now() - DAY }, now()))).toBe(1);
    await worker.drained();
    expect(await states(store)).toEqual(['done', 'done']);
    expect(await countUpTo(store.db, 10, { state: 'failing' })).toBe(0);
    expect(await store.write((tx) => sendDelivery(tx, 99, now()))).toBe('unknown');
  });

  it('keep every attempt with its answer and reason, successful ones for a week and up to a limit', async () => {
    const store = await newStore(engine);
    const hook = await openHook((response, _seen, count) => response.writeHead(count === 1 ? 500 : 200).end('told'));
    await made(store, { url: hook.url, target: 'all', schedule: [0, 10] });
    const { publish, later, now } = delivering(store);
    await publish(changed());
    await later(0);
    await later(11_000);
    const [{ seq = 0 } = {}] = await listDeliveries(store.db);
    expect(await attemptsOf(store.db, seq)).toMatchObject([
      { number: 1, status: 500, fault: 'answered 500', answer: 'told', done: false },
      { number: 2, status: 200, fault: null, answer: 'told', done: true },
    ]);
    const kept = async () => (await attemptsOf(store.db, seq)).map(({ number }) => number);
    await trimDeliveries(store, now() + 6 * DAY, STEADY);
    expect(await kept()).toEqual([1, 2]);
    await publish(changed(), changed());
    await later(0);
    await trimDeliveries(store, now(), STEADY, { mostDone: 2 });
    expect(await kept()).toEqual([1]);
    const left = () => store.db.selectFrom('attempt').select('done').where('done', '=', 1).execute();
    expect(await left()).toHaveLength(2);
    await trimDeliveries(store, now() + 8 * DAY, STEADY);
    expect([await left(), await kept()]).toEqual([[], [1]]);
  });

  it('that are dropped let the next of their company follow', async () => {
    const store = await newStore(engine);
    const hook = await openHook(statuses(500, 204));
    await made(store, { url: hook.url, target: 'all' });
    const { publish, worker, now } = delivering(store);
    await publish(changed(), changed());
    await worker.drained();
    expect(await states(store)).toEqual(['failing', 'due']);
    const [, head = expect.fail()] = await listDeliveries(store.db);
    expect(await store.write((tx) => dropDeliveries(tx, { seq: head.seq }, now()))).toBe(1);
    await worker.drained();
    expect(await states(store)).toEqual(['dropped', 'done']);
    expect(await lanes(store, 'deliver')).toEqual([]);
  });

  it('that are replayed after their change was deleted are dropped, with the reason', async () => {
    const store = await newStore(engine);
    const { id } = await made(store, { target: 'all' });
    const { publish, worker, now } = delivering(store);
    await store.write((tx) => disable(tx, id, 'person', now()));
    await publish(changed());
    await store.write((tx) => tx.deleteFrom('change').execute());
    await store.write((tx) => activate(tx, id, now()));
    await store.write((tx) => replayDeliveries(tx, {}, now()));
    await worker.drained();
    const [dropped] = await listDeliveries(store.db);
    expect(dropped).toMatchObject({ state: 'dropped', error: 'the change of this delivery is no longer stored' });
  });

  it('that were held for 14 days are dropped, and finished ones are deleted after 90', async () => {
    const store = await newStore(engine);
    const hook = await openHook(statuses(500));
    const { id } = await made(store, { url: hook.url, target: 'all', schedule: [0] });
    const { publish, worker, now } = delivering(store);
    await publish(changed());
    await worker.drained();
    await store.write((tx) => disable(tx, id, 'person', now()));
    await publish(changed());
    await trimDeliveries(store, now() + 13 * DAY, STEADY);
    expect(await states(store)).toEqual(['failed', 'held']);
    await trimDeliveries(store, now() + 15 * DAY, STEADY);
    expect(await states(store)).toEqual(['failed', 'dropped']);
    const [dropped, given = expect.fail()] = await listDeliveries(store.db);
    expect(dropped?.error).toBe('it was held for 14 days');
    expect(await attemptsOf(store.db, given.seq)).toHaveLength(1);
    await trimDeliveries(store, now() + 91 * DAY, STEADY);
    expect(await listDeliveries(store.db)).toEqual([]);
    expect(await attemptsOf(store.db, given.seq)).toEqual([]);
  });

  it('that were due for days before their monitor was disabled are still held for 14 days', async () => {
    const store = await newStore(engine);
    const hook = await openHook(statuses(500));
    const { id } = await made(store, { url: hook.url, target: 'all' });
    const { publish, worker, now } = delivering(store);
    await publish(changed());
    await worker.drained();
    const off = now() + 5 * DAY;
    await store.write((tx) => disable(tx, id, 'failing', off));
    await trimDeliveries(store, off + 13 * DAY, STEADY);
    expect(await states(store)).toEqual(['held']);
    await trimDeliveries(store, off + 15 * DAY, STEADY);
    expect(await states(store)).toEqual(['dropped']);
  });
});
