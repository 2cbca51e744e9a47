/** Two processes that keep one record of a scripted CRM up to date, by a clock that is set by hand. */
import { expect } from 'vitest';
import type { Connection, Policy, Property, PropertyValue } from '../../../providers/provider.ts';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import type { Crm } from '../../../src/connector/crm/crm.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { undoPage } from '../../../src/connector/undo/undo.ts';
import type { Selection } from '../../../src/connector/undo/writes.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { checkPendingWrites } from '../../../src/runtime/lanes/pending-writes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENTITY, renamed } from '../../faults/company.ts';
import { crmOf } from '../../support/crm.ts';
import { historyLines } from '../../support/history.ts';
import { type ENGINES, newStore } from '../../support/stores.ts';
import { guardedCalls } from '../../support/toy-crm.ts';

const LEASE_MS = 9_000;
const NAME: Property = { name: 'name', label: 'Name', type: 'string', writable: true };
export const RECORD = 'one';

/** A record `one` of a CRM with one property, its store, and a clock. */
export interface World {
  readonly store: Store;
  readonly clock: { now: number };
  readonly crm: Crm;
  /** What the CRM holds. */
  readonly held: { name: PropertyValue };
  /** What happens before the next write arrives in the CRM, and after it. */
  readonly meanwhile: { before?: (() => Promise<void>) | undefined; after?: (() => Promise<void>) | undefined };
  /** What the CRM makes of a value, and whether its answer to a write says what the record held before and holds after it. */
  readonly habits: { respell: (value: PropertyValue) => PropertyValue; tells: boolean };
  /** What happens to each write in turn before its bytes leave. */
  readonly waits: (() => Promise<void>)[];
  readonly log: string[];
  readonly metrics: ReturnType<typeof createMetrics>;
}

/** Opens it around a record that holds this name. */
export async function open(engine: (typeof ENGINES)[number], name: PropertyValue, policy: Policy): Promise<World> {
  const store = await newStore(engine);
  const clock = { now: Date.UTC(2026, 2, 3) };
  const held = { name };
  const meanwhile: World['meanwhile'] = {};
  const waits: World['waits'] = [];
  const habits: World['habits'] = { respell: (value) => value, tells: false };
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
      const replaced = { name: held.name };
      for (const { properties } of patches) held.name = habits.respell(properties['name'] ?? null);
      const stored = { name: held.name };
      await after?.();
      return patches.map(({ id }) => ({ kind: 'written', id, ...(habits.tells && { stored, replaced }) }));
    },
    scan: async () => ({ records: [] }),
  };
  const mapping = [{ field: 'name', property: 'name', policy }] as const;
  const crm = crmOf({ store, connection, mapping, properties: [NAME], now: () => clock.now });
  const link = { provider: 'crm', recordId: RECORD, entity: ENTITY, sendUpdate: false, now: clock.now };
  await store.write((tx) => linkRecord(tx, link));
  return { store, clock, crm, held, meanwhile, habits, waits, log: [], metrics: createMetrics() };
}

/** An event comes and is applied. */
export async function report({ store, clock, metrics }: World, from: string, to: string, hour: number): Promise<void> {
  const payload = writePayload(renamed(from, to, hour));
  const event = { key: to, entity: ENTITY, timestamp: '2026-03-02T08:00:00.000Z', body: JSON.stringify(payload) };
  await store.write((tx) => insertReceipts(tx, [event], clock.now));
  const now = () => clock.now;
  const claims = await claim(store, 'apply', { limit: 9, now: clock.now, leaseMs: LEASE_MS });
  const mapped = new Map([['crm', new Set(['name'] as const)]]);
  await applyReceipts({ store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped }, claims);
}

/** What one process does: takes what is due and brings it up to date. */
export async function sync({ store, clock, crm, metrics, log }: World): Promise<number> {
  const claims = await claim(store, 'sync:crm', { limit: 9, now: clock.now, leaseMs: LEASE_MS });
  const warn = (_details: object, message: string) => void log.push(message);
  const deps = { store, metrics, now: () => clock.now, log: { warn } };
  await syncRecords(deps, crm, claims, AbortSignal.timeout(60_000));
  return claims.length;
}

/** Stands still until long after the lease: another process takes the record, with a newer name, and is done with it. */
export const standsStill = (world: World) => async () => {
  world.clock.now += 40_000;
  await report(world, 'B ApS', 'C ApS', 9);
  expect(await sync(world)).toBe(1);
  expect(world.held.name).toBe('C ApS');
  world.clock.now += 1_000;
};

/** What history says of the record: rule, old and new value. */
export const history = async ({ store }: World): Promise<readonly (readonly unknown[])[]> =>
  (await historyLines(store.db)).map(({ rule, old, now }) => [rule, old, now]);

/** What `undo` does to the record. */
export async function takeBack({ store, clock, crm, metrics }: World, selection: Selection): Promise<void> {
  const deps = { store, metrics, now: () => clock.now, leaseMs: LEASE_MS };
  await undoPage(deps, { crm, ids: [RECORD], selection }, AbortSignal.timeout(60_000));
}

export const laneCount = async ({ store }: World): Promise<number> =>
  (await store.db.selectFrom('lane').select('key').where('queue', '=', 'sync:crm').execute()).length;

export const pendingCount = async ({ store }: World): Promise<number> =>
  (await store.db.selectFrom('pending_write').select('key').execute()).length;

/** Goes on by some seconds, and has the daemon do what is due: its look at pending writes, and the syncs that follow. */
export async function goOn(world: World, seconds: number): Promise<void> {
  world.clock.now += seconds * 1_000;
  await world.store.write((tx) => checkPendingWrites(tx, world.clock.now));
  await sync(world);
}
