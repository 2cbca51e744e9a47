/** Looks: when each connection's tasks run, and what becomes of them when they cannot. */
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../providers/provider.ts';
import type { Crm } from '../../src/connector/crm.ts';
import { type LookTasks, runLooks, seedLooks } from '../../src/connector/look.ts';
import { LOOK_QUEUE, type LookDeps, type Looked } from '../../src/connector/look-task.ts';
import { UpstreamError } from '../../src/connector/upstream.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createBell } from '../../src/runtime/bell.ts';
import { claim, mark, parked } from '../../src/runtime/lanes.ts';
import type { Store } from '../../src/store/open.ts';
import { crmOf } from '../support/crm.ts';
import { newStore } from '../support/stores.ts';

const HOUR = 3_600_000;
const never = new AbortController().signal;

interface Ground {
  readonly store: Store;
  readonly crm: Crm;
  readonly tasks: LookTasks;
  at: number;
  every: number | undefined;
  /** What the task does; what it throws is a fault. */
  work: () => Promise<Looked>;
  runs: number;
  seed(): Promise<void>;
  run(): Promise<number>;
  lane(): Promise<
    { due_at: number | null; attempts: number; error: string | null; parked_at: number | null } | undefined
  >;
}

async function setLook(first: 'now' | 'later' = 'now'): Promise<Ground> {
  const store = await newStore('sqlite');
  const connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => [],
    read: async () => [],
    update: async () => [],
    scan: async () => ({ records: [] }),
  };
  const now = (): number => ground.at;
  const crm = crmOf({ store, connection, mapping: [], properties: [], now });
  const deps: LookDeps = {
    store,
    metrics: createMetrics(),
    log: { info() {}, warn() {} },
    now,
    bell: createBell(),
    upstream: async () => undefined,
  };
  const ground: Ground = {
    store,
    crm,
    at: 1_000_000,
    every: HOUR,
    runs: 0,
    work: async () => ({ kind: 'done' }),
    tasks: {
      glance: {
        everyMs: () => ground.every,
        first,
        async run() {
          ground.runs += 1;
          return ground.work();
        },
      },
    },
    seed: () => store.write((tx) => seedLooks(tx, [crm], ground.at, ground.tasks)),
    async run() {
      const claims = await claim(store, LOOK_QUEUE, { limit: 9, now: ground.at, leaseMs: 30_000 });
      await runLooks(deps, [crm], claims, never, ground.tasks);
      return claims.length;
    },
    lane: () =>
      store.db
        .selectFrom('lane')
        .select(['due_at', 'attempts', 'error', 'parked_at'])
        .where('key', '=', 'crm glance')
        .executeTakeFirst(),
  };
  return ground;
}

describe('a look', () => {
  it('runs at once on a new store, and then each time after its time', async () => {
    const ground = await setLook();
    await ground.seed();
    await ground.run();
    expect(await ground.run()).toBe(0);
    ground.at += HOUR;
    await ground.run();
    expect(ground.runs).toBe(2);
  });

  it('waits its time first, where it is one for later, and a restart does not make it wait longer', async () => {
    const ground = await setLook('later');
    await ground.seed();
    ground.at += HOUR / 2;
    await ground.seed();
    expect(await ground.run()).toBe(0);
    ground.at += HOUR / 2;
    expect(await ground.run()).toBe(1);
  });

  it('comes sooner once its time has become shorter', async () => {
    const ground = await setLook('later');
    await ground.seed();
    ground.every = HOUR / 4;
    await ground.seed();
    ground.at += HOUR / 4;
    expect(await ground.run()).toBe(1);
  });

  it('ends where the connection no longer runs it', async () => {
    const ground = await setLook();
    await ground.seed();
    ground.every = undefined;
    await ground.run();
    expect([ground.runs, await ground.lane()]).toEqual([0, undefined]);
  });

  it('ends where nobody knows it: a task of another version, or the lane of a transfer that was killed', async () => {
    const ground = await setLook();
    const keys = ['crm other', 'crm transfer CVR-1-10000001', 'gone glance', 'crm constructor'];
    await ground.store.write((tx) => mark(tx, LOOK_QUEUE, keys, ground.at));
    expect(await ground.run()).toBe(4);
    expect(await ground.store.db.selectFrom('lane').selectAll().execute()).toEqual([]);
  });

  it('waits for a person where one must look, and is tried again by a restart', async () => {
    const ground = await setLook();
    await ground.seed();
    ground.work = async () => ({ kind: 'person', reason: 'the list is empty' });
    await ground.run();
    expect(await parked(ground.store.db, LOOK_QUEUE)).toMatchObject([
      { key: 'crm glance', error: 'the list is empty' },
    ]);
    ground.at += 10 * HOUR;
    expect(await ground.run()).toBe(0);
    await ground.seed();
    expect(await ground.run()).toBe(1);
  });

  it('may say when it comes again', async () => {
    const ground = await setLook();
    await ground.seed();
    ground.work = async () => ({ kind: 'again', at: ground.at + 5 });
    await ground.run();
    expect(await ground.lane()).toMatchObject({ due_at: ground.at + 5, attempts: 0 });
  });
});

describe('a look that fails', () => {
  const failing = async (error: Error) => {
    const ground = await setLook();
    await ground.seed();
    ground.work = async () => {
      throw error;
    };
    await ground.run();
    return { lane: await ground.lane(), paused: await ground.crm.pace.blockedUntil(), at: ground.at };
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

  it('because the account is asked too often pauses the account, and counts no failure', async () => {
    const { lane, paused, at } = await failing(new ProviderError('rate', 'too many', { retryAfterMs: 60_000 }));
    expect(lane).toMatchObject({ attempts: 0, due_at: at + 60_000 });
    expect(paused).toMatchObject({ until: at + 60_000 });
  });

  it.each([
    ['the CRM', new ProviderError('refused', 'no scope')],
    ['the service', new UpstreamError('refused', 'no scope')],
  ])('because %s refuses it waits for a person, and stops nothing else', async (_, error) => {
    const { lane, paused } = await failing(error);
    expect(lane).toMatchObject({ error: 'no scope', parked_at: expect.any(Number) });
    expect(paused).toBeUndefined();
  });
});
