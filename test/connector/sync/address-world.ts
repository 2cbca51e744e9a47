/** A record with an address, of a scripted CRM: its store, its syncs and undoes, and a clock that is set by hand. */
import { type Respell, respelled } from '../../../providers/kit/emulator/emulator.ts';
import type { Connection, Property, PropertyValue } from '../../../providers/provider.ts';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import { readDifferences } from '../../../src/connector/history/differences.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { undoPage } from '../../../src/connector/undo/undo.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import type { Address } from '../../../src/protocol/formats.ts';
import { payloadOf, writePayload } from '../../../src/protocol/payload.ts';
import { claim, mark } from '../../../src/runtime/lanes/lanes.ts';
import { checkPendingWrites } from '../../../src/runtime/lanes/pending-writes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { ENTITY } from '../../faults/company.ts';
import { crmOf } from '../../support/crm.ts';
import { type ENGINES, newStore } from '../../support/stores.ts';
import { propertyOf } from '../property-of.ts';

const MAPPING = [
  { field: 'street', property: 'address', policy: 'tracked' },
  { field: 'postalCode', property: 'zip', policy: 'tracked' },
  { field: 'city', property: 'city', policy: 'tracked' },
  { field: 'region', property: 'state', policy: 'tracked' },
] as const;
const CO_NAME = { field: 'coName', property: 'address2', policy: 'tracked' } as const;
const PROPERTIES: readonly Property[] = [...MAPPING, CO_NAME].map(({ property }) =>
  propertyOf('string', { name: property, ...(property === 'city' && { maxLength: 40 }) }),
);
const LEASE_MS = 9_000;

export type AddressWorld = Awaited<ReturnType<typeof openAddress>>;

/** `tells`: the CRM's answer to a write says what it replaced; it has a history, which shows nothing. `coName`: the c/o name is mapped, too. */
export async function openAddress(
  engine: (typeof ENGINES)[number],
  {
    respell = {},
    tells = false,
    coName = false,
  }: { readonly respell?: Respell; readonly tells?: boolean; readonly coName?: boolean } = {},
) {
  const mapping = coName ? [...MAPPING, CO_NAME] : MAPPING;
  const store = await newStore(engine);
  const clock = { now: Date.UTC(2026, 2, 3) };
  const now = () => clock.now;
  const record: Record<string, PropertyValue> = Object.fromEntries(mapping.map(({ property }) => [property, null]));
  /** What happens right before the next write arrives in the CRM. */
  const meanwhile: { before?: (() => Promise<void> | void) | undefined } = {};
  const refused = new Set<PropertyValue>();
  /** The patches that reached the CRM. */
  const sent: Readonly<Record<string, PropertyValue>>[] = [];
  const connection: Connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => PROPERTIES,
    read: async (ids) => ids.map((id) => ({ kind: 'found', id, properties: { ...record } })),
    async update(patches) {
      const { before } = meanwhile;
      meanwhile.before = undefined;
      await before?.();
      return patches.map(({ id, properties }) => {
        sent.push(properties);
        const bad = Object.entries(properties).filter(([, value]) => refused.has(value));
        if (bad.length > 0) {
          const reasons = Object.fromEntries(bad.map(([name]) => [name, 'a validation rule']));
          return { kind: 'rejected', id, reason: 'a validation rule', properties: reasons };
        }
        const stored = respelled(properties, respell);
        const replaced = Object.fromEntries(Object.keys(properties).map((name) => [name, record[name] ?? null]));
        Object.assign(record, stored);
        return { kind: 'written', id, stored, ...(tells && { replaced }) };
      });
    },
    scan: async () => ({ records: [] }),
    ...(tells && { edits: async () => [] }),
  };
  const crm = crmOf({ store, connection, mapping, properties: PROPERTIES, now });
  const link = { provider: 'crm', recordId: 'one', entity: ENTITY, sendUpdate: false, now: clock.now };
  await store.write((tx) => linkRecord(tx, link));
  const metrics = createMetrics();
  const signal = AbortSignal.timeout(60_000);
  const mapped = new Map([['crm', new Set(mapping.map(({ field }) => field))]]);
  const claims = (queue: string) => claim(store, queue, { limit: 9, now: clock.now, leaseMs: LEASE_MS });

  const sync = async () => syncRecords({ store, metrics, now }, crm, await claims('sync:crm'), signal);

  /** Has the record, or another one, synced though nothing came for it. */
  const again = async (id = 'one') => {
    await store.write((tx) => mark(tx, 'sync:crm', [id], clock.now));
    await sync();
  };
  /** Lets time pass, and the daemon do what is due. */
  const goOn = async (seconds: number) => {
    clock.now += seconds * 1_000;
    await store.write((tx) => checkPendingWrites(tx, clock.now));
    await sync();
  };

  async function move(before: Address | null, after: Address): Promise<void> {
    clock.now += 60_000;
    const timestamp = new Date(clock.now - 30_000).toISOString();
    const body = JSON.stringify(writePayload(payloadOf(ENTITY, timestamp, { address: { before, after } })));
    await store.write((tx) => insertReceipts(tx, [{ key: timestamp, entity: ENTITY, timestamp, body }], clock.now));
    const deps = { store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped };
    await applyReceipts(deps, await claims('apply'));
    await sync();
  }

  const differences = () => readDifferences(store.db, clock.now, {}, 9);

  async function undo(property?: string, event = 2): Promise<readonly string[]> {
    clock.now += 60_000;
    const deps = { store, metrics, now, leaseMs: LEASE_MS };
    const { done } = await undoPage(deps, { crm, ids: ['one'], selection: { event, property } }, signal);
    return done.map((each) => `${each.property} ${each.kind}`).sort();
  }
  return { store, clock, record, refused, sent, meanwhile, move, sync, again, goOn, differences, undo };
}
