/** Two processes on one store, of which one stands still between its last look at the store and the bytes of its write. */
import { describe, expect, test } from 'vitest';
import {
  type Connection,
  type Policy,
  type Property,
  type PropertyValue,
  ProviderError,
} from '../../providers/provider.ts';
import type { Crm } from '../../src/connector/crm/crm.ts';
import { readDifferences, settleDifference } from '../../src/connector/decide/differences.ts';
import { applyReceipts } from '../../src/connector/facts/apply.ts';
import { insertReceipts } from '../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { syncRecords } from '../../src/connector/sync/sync.ts';
import { undoPage } from '../../src/connector/undo/undo.ts';
import type { Selection } from '../../src/connector/undo/writes.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { writePayload } from '../../src/protocol/payload.ts';
import { claim, mark } from '../../src/runtime/lanes/lanes.ts';
import { checkPendingWrites } from '../../src/runtime/lanes/pending-writes.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import type { Store } from '../../src/store/open.ts';
import { ENTITY, renamed } from '../faults/company.ts';
import { crmOf } from '../support/crm.ts';
import { ENGINES, newStore } from '../support/stores.ts';
import { guardedCalls } from '../support/toy-crm.ts';

const LEASE_MS = 9_000;
const NAME: Property = { name: 'name', label: 'Name', type: 'string', writable: true };
const RECORD = 'one';

interface World {
  readonly store: Store;
  readonly clock: { now: number };
  readonly crm: Crm;
  /** What the CRM holds. */
  readonly held: { name: PropertyValue };
  /** What happens before the next write arrives in the CRM, and after it. */
  readonly meanwhile: { before?: (() => Promise<void>) | undefined; after?: (() => Promise<void>) | undefined };
  /** What happens to each write in turn before its bytes leave. */
  readonly waits: (() => Promise<void>)[];
  readonly log: string[];
  readonly metrics: ReturnType<typeof createMetrics>;
}

async function open(engine: (typeof ENGINES)[number], name: PropertyValue, policy: Policy): Promise<World> {
  const store = await newStore(engine);
  const clock = { now: Date.UTC(2026, 2, 3) };
  const held = { name };
  const meanwhile: World['meanwhile'] = {};
  const waits: World['waits'] = [];
  const calls = await guardedCalls(store);
  const connection: Connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => [NAME],
    read: async (ids) => ids.map((id) => ({ kind: 'found', id, properties: { name: held.name } })),
    async update(patches, signal) {
      await waits.shift()?.();
      await calls.call(signal);
      const { before, after } = meanwhile;
      [meanwhile.before, meanwhile.after] = [undefined, undefined];
      await before?.();
      for (const { properties } of patches) held.name = properties['name'] ?? null;
      await after?.();
      return patches.map(({ id }) => ({ kind: 'written', id }));
    },
    scan: async () => ({ records: [] }),
  };
  const mapping = [{ field: 'name', property: 'name', policy }] as const;
  const crm = crmOf({ store, connection, mapping, properties: [NAME], now: () => clock.now });
  const link = { provider: 'crm', recordId: RECORD, entity: ENTITY, sendUpdate: false, now: clock.now };
  await store.write((tx) => linkRecord(tx, link));
  return { store, clock, crm, held, meanwhile, waits, log: [], metrics: createMetrics() };
}

async function report({ store, clock, metrics }: World, from: string, to: string, hour: number): Promise<void> {
  const payload = writePayload(renamed(from, to, hour));
  const event = { key: to, entity: ENTITY, timestamp: '2026-03-02T08:00:00.000Z', body: JSON.stringify(payload) };
  await store.write((tx) => insertReceipts(tx, [event], clock.now));
  const now = () => clock.now;
  const claims = await claim(store, 'apply', { limit: 9, now: clock.now, leaseMs: LEASE_MS });
  const mapped = new Map([['crm', new Set(['name'] as const)]]);
  await applyReceipts({ store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped }, claims);
}

/** What one process does: takes what is due and brings it up to date. */
async function sync({ store, clock, crm, metrics, log }: World): Promise<number> {
  const claims = await claim(store, 'sync:crm', { limit: 9, now: clock.now, leaseMs: LEASE_MS });
  const warn = (_details: object, message: string) => void log.push(message);
  const deps = { store, metrics, now: () => clock.now, log: { warn } };
  await syncRecords(deps, crm, claims, AbortSignal.timeout(30_000));
  return claims.length;
}

/** Stands still until long after the lease: another process takes the record, with a newer name, and is done with it. */
const standsStill = (world: World) => async () => {
  world.clock.now += 40_000;
  await report(world, 'B ApS', 'C ApS', 9);
  expect(await sync(world)).toBe(1);
  expect(world.held.name).toBe('C ApS');
  world.clock.now += 1_000;
};

const history = async ({ store }: World): Promise<readonly (readonly (string | null)[])[]> => {
  const rows = await store.db.selectFrom('history').selectAll().orderBy('id').execute();
  return rows.map((row) => [row.rule, row.old_value, row.new_value]);
};

/** What `undo` does to the record. */
async function takeBack({ store, clock, crm, metrics }: World, selection: Selection): Promise<void> {
  const deps = { store, metrics, now: () => clock.now, leaseMs: LEASE_MS };
  await undoPage(deps, crm, [RECORD], selection, AbortSignal.timeout(9_000));
}

const laneCount = async ({ store }: World): Promise<number> =>
  (await store.db.selectFrom('lane').select('key').where('queue', '=', 'sync:crm').execute()).length;

describe.each(ENGINES)('a stale write does not stay in the CRM (%s)', (engine) => {
  test.each([
    ['tracked', 'A ApS', 'register'],
    ['always', 'A ApS', 'always'],
    // What is no longer blank is not ours to change, unless we filled it ourselves, and with something newer.
    ['if-blank', null, 'blank'],
  ] as const)('under the policy %s, and history says what happened', async (policy, name, rule) => {
    const world = await open(engine, name, policy);
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = standsStill(world);
    await sync(world);
    expect(world.held.name).toBe('B ApS');
    expect(world.log).toEqual([expect.stringContaining('sent what another may have overtaken')]);
    expect(await world.metrics.registry.metrics()).toContain('cvrsync_sent_after_lease_lost_total{queue="sync:crm"} 1');

    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe('C ApS');
    expect(await history(world)).toEqual([
      [rule, JSON.stringify(name), '"C ApS"'],
      ['ours-after-all', '"C ApS"', '"B ApS"'],
      [policy === 'always' ? 'always' : 'ours', '"B ApS"', '"C ApS"'],
    ]);
    expect(await laneCount(world)).toBe(0);
    expect(await world.store.db.selectFrom('pending_write').selectAll().execute()).toEqual([]);
  });

  test('also where the process dies as soon as it has sent it', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    const sent = Promise.withResolvers<void>();
    world.meanwhile.before = standsStill(world);
    world.meanwhile.after = async () => {
      sent.resolve();
      await new Promise(() => {});
    };
    void sync(world);
    await sent.promise;
    expect([world.held.name, await laneCount(world)]).toEqual(['B ApS', 0]);

    world.clock.now += 60_000;
    await world.store.write((tx) => checkPendingWrites(tx, world.clock.now));
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe('C ApS');
    expect((await history(world)).map(([rule]) => rule)).toEqual(['register', 'ours-after-all', 'ours']);
  });

  test('and a write that never came is looked for a day long, and then no more', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    const frozen = Promise.withResolvers<void>();
    world.meanwhile.before = async () => {
      await standsStill(world)();
      frozen.resolve();
      await new Promise(() => {});
    };
    void sync(world);
    await frozen.promise;
    const looks: number[] = [];
    for (let minute = 0; minute < 1_500; minute += 1) {
      world.clock.now += 60_000;
      await world.store.write((tx) => checkPendingWrites(tx, world.clock.now));
      if ((await laneCount(world)) === 0) continue;
      looks.push(minute);
      await sync(world);
    }
    expect(looks.length).toBeGreaterThanOrEqual(6);
    expect(looks.at(-1)).toBeGreaterThan(1_000);
    expect(await world.store.db.selectFrom('pending_write').selectAll().execute()).toEqual([]);
    expect(await history(world)).toEqual([['register', '"A ApS"', '"C ApS"']]);
  });
});

const pendingCount = async ({ store }: World): Promise<number> =>
  (await store.db.selectFrom('pending_write').select('key').execute()).length;

/** Goes on by some seconds, and has the daemon do what is due: its look at pending writes, and the syncs that follow. */
async function goOn(world: World, seconds: number): Promise<void> {
  world.clock.now += seconds * 1_000;
  await world.store.write((tx) => checkPendingWrites(tx, world.clock.now));
  await sync(world);
}

describe.each(ENGINES)('a stale write that was answered late (%s)', (engine) => {
  test('is no reason to take the same value for ours later: a person wrote it', async () => {
    const world = await open(engine, null, 'if-blank');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = standsStill(world);
    world.meanwhile.after = async () => {
      world.held.name = 'As a person wrote it';
    };
    await sync(world);
    expect(await sync(world)).toBe(1);
    expect([world.held.name, await pendingCount(world)]).toEqual(['As a person wrote it', 1]);
    await goOn(world, 31);
    expect(await pendingCount(world)).toBe(0);

    world.held.name = 'B ApS';
    await report(world, 'C ApS', 'D ApS', 10);
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe('B ApS');
  });

  test('is still mended where the CRM shows it only some time after its answer', async () => {
    const world = await open(engine, null, 'if-blank');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = standsStill(world);
    world.meanwhile.after = async () => {
      world.held.name = 'C ApS';
    };
    await sync(world);
    await goOn(world, 10);
    world.held.name = 'B ApS';
    await goOn(world, 21);
    expect([world.held.name, await pendingCount(world)]).toEqual(['C ApS', 0]);
    expect((await history(world)).map(([rule]) => rule)).toEqual(['blank', 'ours-after-all', 'ours']);
  });
});

describe.each(ENGINES)("a stale write over a person's edit (%s)", (engine) => {
  const EDIT = 'As a person wrote it';

  /** A person's edit is known to us when a write that is older than our last one goes over it. */
  async function overwritten(): Promise<World> {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = async () => {
      await standsStill(world)();
      world.held.name = EDIT;
      await world.store.write((tx) => mark(tx, 'sync:crm', [RECORD], world.clock.now));
      expect(await sync(world)).toBe(1);
    };
    await sync(world);
    expect(world.held.name).toBe('B ApS');
    return world;
  }

  const TOLD = [
    ['register', '"A ApS"', '"C ApS"'],
    ['edited', `"${EDIT}"`, '"C ApS"'],
    ['ours-after-all', `"${EDIT}"`, '"B ApS"'],
    ['returned', '"B ApS"', `"${EDIT}"`],
  ];

  test('is taken back: the edit returns, history says so, and review shows it', async () => {
    const world = await overwritten();
    expect(await sync(world)).toBe(1);
    expect([world.held.name, await pendingCount(world)]).toEqual([EDIT, 0]);
    expect(await history(world)).toEqual(TOLD);
    expect(await readDifferences(world.store.db, {}, 9)).toMatchObject([{ crm: `"${EDIT}"`, register: '"C ApS"' }]);

    await report(world, 'C ApS', 'D ApS', 10);
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe(EDIT);
    const selections = [{ entity: ENTITY }, { event: 1 }, { event: 2 }];
    for (const selection of selections) await takeBack(world, selection);
    expect(world.held.name).toBe(EDIT);
  });

  test.each(['before', 'after'] as const)('is taken back also where the CRM fails %s it did so', async (when) => {
    const world = await overwritten();
    world.meanwhile[when] = async () => {
      throw new ProviderError('unavailable', 'no answer came');
    };
    await sync(world);
    expect(world.held.name).toBe(when === 'before' ? 'B ApS' : EDIT);
    await goOn(world, 60);
    expect(world.held.name).toBe(EDIT);
    await report(world, 'C ApS', 'D ApS', 10);
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe(EDIT);
    if (when === 'before') expect((await history(world)).slice(0, 4)).toEqual(TOLD);
  });

  test('gives way where a person lets the register win', async () => {
    const world = await overwritten();
    expect(await sync(world)).toBe(1);
    const ref = { provider: 'crm', recordId: RECORD, property: 'name' };
    await world.store.write(async (tx) => {
      expect(await settleDifference(tx, ref, 'register', world.clock.now)).toBe(true);
      await mark(tx, 'sync:crm', [RECORD], world.clock.now);
    });
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe('C ApS');
  });
});

describe.each(ENGINES)('a process that stands still between its last re-read and the bytes (%s)', (engine) => {
  test('sends nothing: its lease is asked for after the wait for the rate limiter', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    const waitsLong = async () => {
      world.clock.now += 300;
    };
    // Read again twice, and no more: nothing but the lease keeps the third try from leaving.
    world.waits.push(waitsLong, waitsLong, standsStill(world));
    await sync(world);
    expect(world.held.name).toBe('C ApS');
    expect(world.log).toEqual([expect.stringContaining('another has its work')]);
    const counted = await world.metrics.registry.metrics();
    expect(counted).toMatch(/cvrsync_lease_lost_total 1$/m);
    expect(counted).toContain('cvrsync_sent_after_lease_lost_total{queue="sync:crm"} 0');
    expect(await history(world)).toEqual([['register', '"A ApS"', '"C ApS"']]);
    expect(await laneCount(world)).toBe(0);
    expect(await world.store.db.selectFrom('pending_write').selectAll().execute()).toEqual([]);
  });
});
