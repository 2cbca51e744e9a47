/** An undo of an amount and its currency, with a CRM that does as the test says. */
import { describe, expect, test } from 'vitest';
import type { Connection, Property, PropertyValue } from '../../../providers/provider.ts';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { undoPage } from '../../../src/connector/undo/undo.ts';
import type { Selection } from '../../../src/connector/undo/writes.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { payloadOf, writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { ENTITY } from '../../faults/company.ts';
import { crmOf } from '../../support/crm.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { propertyOf } from '../property-of.ts';

const PROPERTIES: readonly Property[] = [
  propertyOf('number', { name: 'capital' }),
  propertyOf('string', { name: 'currency' }),
];
const MAPPING = [
  { field: 'capital', property: 'capital', policy: 'tracked' },
  { field: 'capitalCurrency', property: 'currency', policy: 'tracked' },
] as const;
const LEASE_MS = 9_000;

const money = (value: number, currency: string) => ({ value, currency, hasClasses: null, isPartial: null });
type Money = ReturnType<typeof money>;
const DANISH = money(1_000_000, 'DKK');
const EURO = money(134_000, 'EUR');
const MORE = money(150_000, 'EUR');

/** A record whose company's capital was told as DKK 1,000,000 and then as EUR 134,000: events 1 and 2. */
async function openWorld(engine: (typeof ENGINES)[number]) {
  const store = await newStore(engine);
  const clock = { now: Date.UTC(2026, 2, 3) };
  const now = () => clock.now;
  const held: Record<string, PropertyValue> = { capital: null, currency: null };
  const refused = new Set<string>();
  const connection: Connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => PROPERTIES,
    read: async (ids) => ids.map((id) => ({ kind: 'found', id, properties: { ...held } })),
    update: async (patches) =>
      patches.map(({ id, properties }) => {
        const bad = Object.keys(properties).filter((name) => refused.has(name));
        if (bad.length > 0) {
          const reasons = Object.fromEntries(bad.map((name) => [name, 'a validation rule']));
          return { kind: 'rejected', id, reason: 'a validation rule', properties: reasons };
        }
        Object.assign(held, properties);
        return { kind: 'written', id };
      }),
    scan: async () => ({ records: [] }),
  };
  const crm = crmOf({ store, connection, mapping: MAPPING, properties: PROPERTIES, now });
  const link = { provider: 'crm', recordId: 'one', entity: ENTITY, sendUpdate: false, now: clock.now };
  await store.write((tx) => linkRecord(tx, link));
  const metrics = createMetrics();
  const signal = AbortSignal.timeout(60_000);
  const mapped = new Map([['crm', new Set(['capital', 'capitalCurrency'] as const)]]);
  const claims = (queue: string) => claim(store, queue, { limit: 9, now: clock.now, leaseMs: LEASE_MS });

  async function report(before: Money | null, after: Money, hour: number): Promise<void> {
    clock.now += 60_000;
    const timestamp = `2026-03-02T${String(hour).padStart(2, '0')}:00:00.000Z`;
    const body = JSON.stringify(writePayload(payloadOf(ENTITY, timestamp, { capital: { before, after } })));
    await store.write((tx) => insertReceipts(tx, [{ key: timestamp, entity: ENTITY, timestamp, body }], clock.now));
    const deps = { store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped };
    await applyReceipts(deps, await claims('apply'));
    await syncRecords({ store, metrics, now }, crm, await claims('sync:crm'), signal);
  }

  async function undo(selection: Selection): Promise<readonly string[]> {
    clock.now += 60_000;
    const deps = { store, metrics, now, leaseMs: LEASE_MS };
    const { done } = await undoPage(deps, { crm, ids: ['one'], selection }, signal);
    return done.map(({ property, kind }) => `${property} ${kind}`).sort();
  }

  await report(null, DANISH, 8);
  await report(DANISH, EURO, 9);
  expect(held).toEqual({ capital: 134_000, currency: 'EUR' });
  return { held, refused, report, undo };
}

describe.each(SUITE_ENGINES)('an amount and its currency (%s)', (engine) => {
  test('are undone together', async () => {
    const { held, undo } = await openWorld(engine);
    expect(await undo({ event: 2 })).toEqual(['capital restored', 'currency restored']);
    expect(held).toEqual({ capital: 1_000_000, currency: 'DKK' });
  });

  test.each(['currency', 'capital'])('both stay if the CRM refuses the %s', async (name) => {
    const { held, refused, undo } = await openWorld(engine);
    refused.add(name);
    expect(await undo({ event: 2 })).toEqual(['capital refused', 'currency refused']);
    expect(held).toEqual({ capital: 134_000, currency: 'EUR' });
  });

  test.each([
    ['currency', 'EUR (fixed)'],
    ['capital', 135_000],
  ])('both stay if a person changed the %s since', async (name, value) => {
    const { held, undo } = await openWorld(engine);
    held[name] = value;
    const before = { ...held };
    expect(await undo({ event: 2 })).toEqual(['capital edited', 'currency edited']);
    expect(held).toEqual(before);
  });

  test.each(['currency', 'capital'])('stay if only the %s is to be undone', async (property) => {
    const { held, undo } = await openWorld(engine);
    expect(await undo({ event: 2, property })).toEqual([`${property} overtaken`]);
    expect(held).toEqual({ capital: 134_000, currency: 'EUR' });
  });

  test('of a later event are undone alone if the currency is the same, and block an earlier undo of the currency', async () => {
    const { held, report, undo } = await openWorld(engine);
    await report(EURO, MORE, 10);
    expect(held).toEqual({ capital: 150_000, currency: 'EUR' });
    expect(await undo({ event: 2 })).toEqual(['capital overtaken', 'currency overtaken']);
    expect(held).toEqual({ capital: 150_000, currency: 'EUR' });
    expect(await undo({ event: 3 })).toEqual(['capital restored']);
    expect(held).toEqual({ capital: 134_000, currency: 'EUR' });
  });

  test('return to the values before the first event if all is undone', async () => {
    const { held, report, undo } = await openWorld(engine);
    await report(EURO, MORE, 10);
    expect(await undo({ entity: ENTITY })).toEqual(['capital restored', 'currency restored']);
    expect(held).toEqual({ capital: null, currency: null });
  });
});
