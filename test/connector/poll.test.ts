/** Looks: when each connection's tasks run, and what becomes of them when they cannot. */
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../providers/provider.ts';
import type { Crm } from '../../src/connector/crm/crm.ts';
import { UpstreamError } from '../../src/connector/monitoring/upstream.ts';
import { POLL_QUEUE, type PollDeps, type Polled } from '../../src/connector/poll/poll-task.ts';
import { type PollTasks, runPolls, seedPolls } from '../../src/connector/poll.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { parked } from '../../src/runtime/lanes/lane-state.ts';
import { claim, mark } from '../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import type { Store } from '../../src/store/store.ts';
import { crmOf } from '../support/crm.ts';
import { newStore } from '../support/stores.ts';

const HOUR = 3_600_000;
const never = new AbortController().signal;

interface Fixture {
  readonly store: Store;
  readonly crm: Crm;
  readonly tasks: PollTasks;
  at: number;
  every: number | undefined;
  /** What the task does; what it throws is a fault. */
  work: () => Promise<Polled>;
  runs: number;
  seed(): Promise<void>;
  run(): Promise<number>;
  lane(): Promise<
    { due_at: number | null; attempts: number; error: string | null; parked_at: number | null } | undefined
  >;
}

async function setLook(first: 'now' | 'later' = 'now'): Promise<Fixture> {
  const store = await newStore('sqlite');
  const connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => [],
    read: async () => [],
    update: async () => [],
    scan: async () => ({ records: [] }),
  };
  const now = (): number => fixture.at;
  const crm = crmOf({ store, connection, mapping: [], properties: [], now });
  const deps: PollDeps = {
    store,
    metrics: createMetrics(),
    log: { info() {}, warn() {} },
    now,
    wakeUp: createWakeUp(),
    upstream: async () => undefined,
  };
  const fixture: Fixture = {
    store,
    crm,
    at: 1_000_000,
    every: HOUR,
    runs: 0,
    work: async () => ({ kind: 'done' }),
    tasks: {
      glance: {
        everyMs: () => fixture.every,
        first,
        async run() {
          fixture.runs += 1;
          return fixture.work();
        },
      },
    },
    seed: () => store.write((tx) => seedPolls(tx, [crm], fixture.at, fixture.tasks)),
    async run() {
      const claims = await claim(store, POLL_QUEUE, { limit: 9, now: fixture.at, leaseMs: 30_000 });
      await runPolls(deps, { crms: [crm], tasks: fixture.tasks }, claims, never);
      return claims.length;
    },
    lane: () =>
      store.db
        .selectFrom('lane')
        .select(['due_at', 'attempts', 'error', 'parked_at'])
        .where('key', '=', 'crm glance')
        .executeTakeFirst(),
  };
  return fixture;
}

describe('a poll', () => {
  it('runs at once on a new store, and then at its interval', async () => {
    const fixture = await setLook();
    await fixture.seed();
    await fixture.run();
    expect(await fixture.run()).toBe(0);
    fixture.at += HOUR;
    await fixture.run();
    expect(fixture.runs).toBe(2);
  });

  it('waits for its interval first if it is a delayed one, and a restart does not extend the wait', async () => {
    const fixture = await setLook('later');
    await fixture.seed();
    fixture.at += HOUR / 2;
    await fixture.seed();
    expect(await fixture.run()).toBe(0);
    fixture.at += HOUR / 2;
    expect(await fixture.run()).toBe(1);
  });

  it('runs earlier once its interval is shorter', async () => {
    const fixture = await setLook('later');
    await fixture.seed();
    fixture.every = HOUR / 4;
    await fixture.seed();
    fixture.at += HOUR / 4;
    expect(await fixture.run()).toBe(1);
  });

  it('ends if the connection no longer runs it', async () => {
    const fixture = await setLook();
    await fixture.seed();
    fixture.every = undefined;
    await fixture.run();
    expect([fixture.runs, await fixture.lane()]).toEqual([0, undefined]);
  });

  it('ends if it is unknown, like a task of another version or the lane of a killed transfer', async () => {
    const fixture = await setLook();
    const keys = ['crm other', 'crm transfer CVR-1-10000001', 'gone glance', 'crm constructor'];
    await fixture.store.write((tx) => mark(tx, POLL_QUEUE, keys, fixture.at));
    expect(await fixture.run()).toBe(4);
    expect(await fixture.store.db.selectFrom('lane').selectAll().execute()).toEqual([]);
  });

  it('waits for a person if it needs one, and is retried by a restart', async () => {
    const fixture = await setLook();
    await fixture.seed();
    fixture.work = async () => ({ kind: 'person', reason: 'the list is empty' });
    await fixture.run();
    expect(await parked(fixture.store.db, POLL_QUEUE)).toMatchObject([
      { key: 'crm glance', error: 'the list is empty' },
    ]);
    fixture.at += 10 * HOUR;
    expect(await fixture.run()).toBe(0);
    await fixture.seed();
    expect(await fixture.run()).toBe(1);
  });

  it('may state its next time', async () => {
    const fixture = await setLook();
    await fixture.seed();
    fixture.work = async () => ({ kind: 'again', at: fixture.at + 5 });
    await fixture.run();
    expect(await fixture.lane()).toMatchObject({ due_at: fixture.at + 5, attempts: 0 });
  });
});

describe('a poll that fails', () => {
  const failing = async (error: Error) => {
    const fixture = await setLook();
    await fixture.seed();
    fixture.work = async () => {
      throw error;
    };
    await fixture.run();
    return { lane: await fixture.lane(), paused: await fixture.crm.rateLimiter.blockedUntil(), at: fixture.at };
  };

  it.each([
    ['the CRM', new ProviderError('unavailable', 'no answer')],
    ['the service', new UpstreamError('unavailable', 'no answer')],
  ])('for want of an answer of %s backs off', async (_, error) => {
    const { lane, paused, at } = await failing(error);
    expect(lane).toMatchObject({ attempts: 1, error: 'no answer', parked_at: null });
    expect(lane?.due_at).toBeGreaterThan(at);
    expect(paused).toBeUndefined();
  });

  it('because of too many calls pauses the account, and counts no failure', async () => {
    const { lane, paused, at } = await failing(new ProviderError('rate', 'too many', { retryAfterMs: 60_000 }));
    expect(lane).toMatchObject({ attempts: 0, due_at: at + 60_000 });
    expect(paused).toMatchObject({ until: at + 60_000 });
  });

  it.each([
    ['the CRM', new ProviderError('refused', 'no scope')],
    ['the service', new UpstreamError('refused', 'no scope')],
  ])('because %s refuses it waits for a person, without stopping anything else', async (_, error) => {
    const { lane, paused } = await failing(error);
    expect(lane).toMatchObject({ error: 'no scope', parked_at: expect.any(Number) });
    expect(paused).toBeUndefined();
  });
});
