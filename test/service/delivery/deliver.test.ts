import { describe, expect, it } from 'vitest';
import { verifyAuth } from '../../../src/protocol/auth.ts';
import { readPayload } from '../../../src/protocol/payload.ts';
import { attemptsOf, listDeliveries } from '../../../src/service/delivery/deliveries.ts';
import {
  activate,
  disable,
  getMonitor,
  removeMonitor,
  rotateSecret,
  updateMonitor,
} from '../../../src/service/monitors/monitors.ts';
import type { Store } from '../../../src/store/store.ts';
import { stillClock } from '../../support/clock.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { delivering, openHook, statuses } from '../delivering.ts';
import { COMPANY, changed, lanes, made, OTHER, RENAMED_AND_MOVED, secrets } from '../monitored.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const renamed = (name: string, entity = COMPANY) =>
  changed({ entity, id: `${entity} ${name}`, updates: { name: { before: null, after: name } } });
const nameIn = (body: string): string => JSON.parse(body).updates.name.after;
const oldestFirst = async (store: Store) => (await listDeliveries(store.db)).toReversed();
const states = async (store: Store) => (await oldestFirst(store)).map(({ state }) => state);

describe.each(ENGINES)('a delivery on %s', (engine) => {
  it('posts the events that the monitor selected, signed, with its credentials', async () => {
    const store = await newStore(engine);
    const hook = await openHook();
    const credentials = { method: 'Bearer', token: 'open-sesame' } as const;
    const { id } = await made(store, { url: hook.url, target: 'all', events: ['website'], credentials });
    const { publish, worker, now } = delivering(store);
    const change = changed({ updates: RENAMED_AND_MOVED });
    await publish(change);
    await worker.drained();
    const [post = expect.fail()] = hook.seen;
    expect(post.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'cvrsync',
      'webhook-attempt': '1',
      authorization: 'Bearer open-sesame',
    });
    const monitor = (await getMonitor(store.db, secrets, id)) ?? expect.fail();
    const secret = monitor.security.secrets[0]?.secret ?? '';
    const auth = { method: 'Signature', secret } as const;
    expect(verifyAuth([auth], post.headers, Buffer.from(post.body), now())).toEqual({ ok: true, signed: true });
    const read = readPayload(JSON.parse(post.body));
    expect(read).toMatchObject({ ok: true, payload: { entityId: COMPANY, timestamp: change.timestamp } });
    expect(read.ok && Object.keys(read.payload.updates)).toEqual(['website']);
    expect(await oldestFirst(store)).toMatchObject([{ state: 'done', attempts: 1, status: 204, nextAt: null }]);
    expect(await lanes(store, 'deliver')).toEqual([]);
  });

  it('is logged at debug with the id that its receiver gets and the result of each attempt, without values', async () => {
    const store = await newStore(engine);
    const hook = await openHook(statuses(503, 204));
    const { id: monitor } = await made(store, { url: hook.url, target: 'all' });
    const lines: object[] = [];
    const log = {
      error() {},
      warn() {},
      debug: (details: object, message: string) => lines.push({ ...details, message }),
    };
    const { publish, worker, later } = delivering(store, { log });
    await publish(renamed('Havblik ApS'));
    await worker.drained();
    await later(HOUR);
    const request = hook.seen[0]?.headers['webhook-id'];
    const line = { request, monitor, entity: COMPANY, ms: expect.any(Number), message: 'a webhook was sent' };
    expect(lines).toEqual([
      { ...line, attempt: 1, status: 503 },
      { ...line, attempt: 2, status: 204 },
    ]);
  });

  it('is limited to the posts a minute that its webhook takes, over two daemons too, and none is lost', async () => {
    const store = await newStore(engine);
    const [slow, fast, free] = [await openHook(), await openHook(), await openHook()];
    await made(store, { url: slow.url, target: 'all', postsPerMinute: 30 });
    await made(store, { url: fast.url, target: 'all', postsPerMinute: 180 });
    await made(store, { url: free.url, target: 'all' });
    const clock = stillClock();
    const [one, other] = [delivering(store, { now: clock.now }), delivering(store, { now: clock.now })];
    const entities = Array.from({ length: 7 }, (_, at) => `CVR-1-9900${1_000 + at}`);
    const seen = () => [slow, fast, free].map((hook) => hook.seen.length);
    const pass = async (ms: number) => {
      clock.forward(ms);
      await Promise.all([one.worker.drained(), other.worker.drained()]);
    };
    await one.publish(...entities.map((entity) => renamed('Havblik', entity)));
    await pass(SECOND);
    expect(seen()).toEqual([1, 3, 7]);
    await pass(999);
    expect(seen()).toEqual([1, 3, 7]);
    await pass(1);
    expect(seen()).toEqual([1, 6, 7]);
    await pass(SECOND);
    expect(seen()).toEqual([2, 7, 7]);
    for (let posts = 3; posts <= 7; posts += 1) {
      await pass(2 * SECOND);
      expect(seen()).toEqual([posts, 7, 7]);
    }
    expect(new Set(slow.seen.map(({ entity }) => entity))).toEqual(new Set(entities));
    expect(await lanes(store, 'deliver')).toEqual([]);
  });

  it('is also signed with the old secret for a day after its replacement', async () => {
    const store = await newStore(engine);
    const hook = await openHook();
    const before = await made(store, { url: hook.url, target: 'all' });
    const { publish, later, worker, now } = delivering(store);
    const rotated = await store.write((tx) => rotateSecret(tx, secrets, before.id, now()));
    const auths = [before, rotated].map((monitor) => ({
      method: 'Signature' as const,
      secret: monitor?.security.secrets[0]?.secret ?? '',
    }));
    const good = () => {
      const { headers, body } = hook.seen.at(-1) ?? expect.fail();
      return auths.map((auth) => verifyAuth([auth], headers, Buffer.from(body), now()).ok);
    };
    await publish(renamed('A'));
    await worker.drained();
    expect(good()).toEqual([true, true]);
    await later(25 * HOUR);
    await publish(renamed('B'));
    await worker.drained();
    expect(good()).toEqual([false, true]);
  });

  it('is retried on schedule with the same id and body, while the next of its company waits', async () => {
    const store = await newStore(engine);
    const hook = await openHook(statuses(500, 500, 500, 204));
    await made(store, { url: hook.url, target: 'all' });
    const { publish, later, worker } = delivering(store);
    await publish(renamed('A'), renamed('B'));
    await worker.drained();
    for (const seconds of [4, 2, 290, 20]) await later(seconds * SECOND);
    expect(hook.seen).toHaveLength(3);
    await later(1_790 * SECOND);
    await later(20 * SECOND);
    expect(hook.seen.map(({ body }) => nameIn(body))).toEqual(['A', 'A', 'A', 'A', 'B']);
    const [first, ...others] = hook.seen.slice(0, 4);
    for (const { headers, body } of others) {
      expect(body).toBe(first?.body);
      expect(headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
    }
    expect(hook.seen.map(({ headers }) => headers['webhook-attempt'])).toEqual(['1', '2', '3', '4', '1']);
    expect(hook.seen.at(-1)?.headers['webhook-id']).not.toBe(first?.headers['webhook-id']);
    const [delivery = expect.fail()] = await oldestFirst(store);
    expect(delivery).toMatchObject({ state: 'done', attempts: 4, status: 204, error: null });
    expect(await attemptsOf(store.db, delivery.seq)).toMatchObject([
      ...[1, 2, 3].map((number) => ({ number, status: 500, fault: 'answered 500', answer: 'said no', done: false })),
      { number: 4, status: 204, fault: null, answer: '', done: true },
    ]);
  });

  it('does not wait for another company', async () => {
    const store = await newStore(engine);
    const hook = await openHook(
      (response, { entity }) => void response.writeHead(entity === COMPANY ? 500 : 204).end(),
    );
    await made(store, { url: hook.url, target: 'all' });
    const { publish, worker } = delivering(store);
    await publish(renamed('A'), renamed('B', OTHER), renamed('C'), renamed('D', OTHER));
    await worker.drained();
    expect(await states(store)).toEqual(['failing', 'done', 'due', 'done']);
    expect(hook.seen.filter(({ entity }) => entity === OTHER).map(({ body }) => nameIn(body))).toEqual(['B', 'D']);
  });

  it('is given up after the last attempt, and the next of its company follows', async () => {
    const store = await newStore(engine);
    const hook = await openHook(
      (response, { body }) => void response.writeHead(nameIn(body) === 'A' ? 500 : 204).end(),
    );
    await made(store, { url: hook.url, target: 'all', schedule: [0, 10, 60] });
    const { publish, later, worker } = delivering(store);
    await publish(renamed('A'), renamed('B'));
    await worker.drained();
    await later(11 * SECOND);
    await later(61 * SECOND);
    expect(hook.seen.map(({ body }) => nameIn(body))).toEqual(['A', 'A', 'A', 'B']);
    expect(await oldestFirst(store)).toMatchObject([
      { state: 'failed', attempts: 3, error: 'answered 500' },
      { state: 'done' },
    ]);
  });

  it('waits before the first attempt if the schedule says so', async () => {
    const store = await newStore(engine);
    const hook = await openHook();
    await made(store, { url: hook.url, target: 'all', schedule: [60] });
    const { publish, later, worker } = delivering(store);
    await publish(renamed('A'));
    await worker.drained();
    await later(50 * SECOND);
    expect(hook.seen).toHaveLength(0);
    await later(20 * SECOND);
    expect(hook.seen.map(({ headers }) => headers['webhook-attempt'])).toEqual(['1']);
  });

  it('is retried later if the webhook asks for that, never sooner', async () => {
    const store = await newStore(engine);
    const asked = ['3600', '1', 'Tue, 01 Sep 2126 08:00:00 GMT'];
    const hook = await openHook(
      (response, _seen, count) => void response.writeHead(429, { 'retry-after': asked[count - 1] ?? '0' }).end(),
    );
    await made(store, { url: hook.url, target: 'all', schedule: [0, 10, 100, 1_000] });
    const { publish, later, worker, now } = delivering(store);
    // The clock runs: an attempt is made between the time it was due and the end of the run.
    let due = now();
    await publish(renamed('A'));
    for (const wait of [3_600, 100, 86_400]) {
      await worker.drained();
      const [{ nextAt = null } = expect.fail()] = await oldestFirst(store);
      expect(nextAt).toBeGreaterThanOrEqual(due + wait * SECOND);
      expect(nextAt).toBeLessThanOrEqual(now() + wait * SECOND);
      due = nextAt ?? 0;
      await later(due - now());
    }
  });

  it.each([
    [410, {}],
    [500, { 'webhook-delivery': 'disable' }],
  ])('disables the monitor if the webhook refuses further deliveries: %i %j', async (status, headers) => {
    const store = await newStore(engine);
    const hook = await openHook((response) => void response.writeHead(status, headers).end());
    const { id } = await made(store, { url: hook.url, target: 'all', emails: ['ops@example.com'] });
    const { publish, worker } = delivering(store);
    await publish(renamed('A'), renamed('B'));
    await worker.drained();
    await publish(renamed('C'));
    await worker.drained();
    expect(hook.seen).toHaveLength(1);
    expect(await states(store)).toEqual(['held', 'held', 'held']);
    const monitor = (await getMonitor(store.db, secrets, id)) ?? expect.fail();
    expect(monitor).toMatchObject({ enabled: false, disabledReason: 'gone' });
    const notices = await store.db
      .selectFrom('mail')
      .select(['recipient', 'body'])
      .where('kind', '=', 'notice')
      .execute();
    expect(notices).toMatchObject([{ recipient: 'ops@example.com', body: expect.stringContaining('slået fra') }]);
    expect(await lanes(store, 'deliver')).toEqual([]);
  });

  it('is given up at once if the webhook asks for that', async () => {
    const store = await newStore(engine);
    const headers = { 'webhook-delivery': 'abort-message' };
    const hook = await openHook((response) => void response.writeHead(400, headers).end());
    await made(store, { url: hook.url, target: 'all' });
    const { publish, worker } = delivering(store);
    await publish(renamed('A'), renamed('B'));
    await worker.drained();
    expect(await states(store)).toEqual(['failed', 'failed']);
  });

  it('stops when its monitor is disabled or removed while it is under way', async () => {
    const store = await newStore(engine);
    let under = () => {};
    const waiting = new Promise<void>((resolve) => {
      under = resolve;
    });
    const answers: (() => void)[] = [];
    const hook = await openHook((response) => {
      answers.push(() => response.writeHead(204).end());
      if (answers.length === 2) under();
    });
    const [off, gone] = [
      await made(store, { url: hook.url, target: 'all' }),
      await made(store, { url: hook.url, target: 'all' }),
    ];
    const { publish, worker, now, errors } = delivering(store, { deadlineMs: 60_000 });
    await publish(renamed('A'), renamed('B'));
    await waiting;
    await store.write((tx) => disable(tx, off.id, 'person', now()));
    await store.write((tx) => removeMonitor(tx, gone.id, now()));
    for (const answer of answers) answer();
    await worker.drained();
    expect(hook.seen).toHaveLength(2);
    const found = await oldestFirst(store);
    expect(found.filter(({ monitor }) => monitor === off.id).map(({ state }) => state)).toEqual(['done', 'held']);
    expect(found.filter(({ monitor }) => monitor === gone.id).map(({ state }) => state)).toEqual([
      'dropped',
      'dropped',
    ]);
    expect(errors).toEqual([]);
    expect(await lanes(store, 'deliver')).toEqual([]);
  });

  it('goes to the new address if the old one answers that it is gone after the change', async () => {
    const store = await newStore(engine);
    const { promise: asked, resolve: ask } = Promise.withResolvers<() => void>();
    const before = await openHook((response) => ask(() => void response.writeHead(410).end()));
    const after = await openHook();
    const { id } = await made(store, { url: before.url, target: 'all' });
    const { publish, worker, now } = delivering(store, { deadlineMs: 60_000 });
    await publish(renamed('A'));
    const answer = await asked;
    await store.write((tx) => updateMonitor(tx, id, { url: after.url }, { secrets, now: now() }));
    answer();
    await worker.drained();
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({ enabled: true, failingSince: null });
    expect([before, after].map(({ seen }) => seen.length)).toEqual([1, 1]);
  });

  it('goes to the address that is configured when it is sent', async () => {
    const store = await newStore(engine);
    const [before, after] = [await openHook(statuses(500)), await openHook()];
    const { id } = await made(store, { url: before.url, target: 'all' });
    const delivery = delivering(store);
    await delivery.publish(renamed('A'));
    await delivery.worker.drained();
    await store.write((tx) => updateMonitor(tx, id, { url: after.url }, { secrets, now: delivery.now() }));
    await store.write((tx) => activate(tx, id, delivery.now()));
    await delivery.later(6 * SECOND);
    expect([before.seen.length, after.seen.length]).toEqual([1, 1]);
  });
});
