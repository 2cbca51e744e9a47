/** A CRM that makes companies, and loses its answers if a test says so. */
import { type Respell, respelled } from '../../../providers/kit/emulator/emulator.ts';
import {
  type Connection,
  type Created,
  type Property,
  type PropertyValue,
  ProviderError,
} from '../../../providers/provider.ts';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import type { Crm } from '../../../src/connector/crm/crm.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import {
  type TransferDeps,
  type TransferOrder,
  type Transferred,
  transfer,
} from '../../../src/connector/transfer/transfer.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { type Writable, writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/store.ts';
import { crmOf } from '../../support/crm.ts';
import { type ENGINES, newStore } from '../../support/stores.ts';

type Properties = Readonly<Record<string, PropertyValue>>;

const text = (name: string): Property => ({ name, label: name, type: 'string', writable: true });

export interface TransferFixture {
  readonly store: Store;
  readonly crm: Crm;
  readonly records: Map<string, Properties>;
  /** How `create` goes wrong; `applied` makes the record all the same. */
  fault: { readonly error: ProviderError; readonly applied: boolean } | undefined;
  /** What the CRM makes of what it is sent, and how a read goes wrong. */
  respell: Respell | undefined;
  silent: ProviderError | undefined;
  /** What `create` waits for. */
  gate: Promise<void> | undefined;
  /** What `create` says instead of making a record. */
  verdict: ((properties: Properties) => Created | undefined) | undefined;
  /** Whether `find` is sure, or not there at all. */
  finds: 'surely' | 'late' | 'never';
  readonly calls: string[];
  /** What was asked about names and numbers, and how it is answered. */
  readonly asked: string[];
  answer: boolean;
  run(order: TransferOrder, more?: Partial<TransferDeps>, signal?: AbortSignal): Promise<Transferred>;
  report(payload: Writable): Promise<void>;
}

export async function setTransfer(engine: (typeof ENGINES)[number] = 'sqlite'): Promise<TransferFixture> {
  const store = await newStore(engine);
  const records = new Map<string, Properties>();
  const calls: string[] = [];
  const now = () => Date.UTC(2026, 5, 1);
  const connection: Connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => ['name', 'cvr', 'phone'].map(text),
    async read(ids) {
      if (fixture.silent !== undefined) throw fixture.silent;
      return ids.map((id) => {
        const properties = records.get(id);
        return properties === undefined ? { kind: 'gone', id } : { kind: 'found', id, properties };
      });
    },
    update: async () => [],
    async scan() {
      calls.push('scan');
      return { records: [...records].map(([id, properties]) => ({ id, properties })) };
    },
    async find(property, value) {
      calls.push(`find ${property}=${value}`);
      const hits = [...records].filter(([, of]) => of[property] === value);
      return { records: hits.map(([id, properties]) => ({ id, properties })), sure: fixture.finds === 'surely' };
    },
    async create(properties) {
      calls.push('create');
      await fixture.gate;
      const said = fixture.verdict?.(properties);
      if (said !== undefined) return said;
      const { fault } = fixture;
      const id = `new-${records.size + 1}`;
      if (fault === undefined || fault.applied) records.set(id, respelled(properties, fixture.respell));
      if (fault !== undefined) throw fault.error;
      return { kind: 'created', id };
    },
  };
  const mapping = [
    { field: 'name', property: 'name', policy: 'tracked' },
    { field: 'phone', property: 'phone', policy: 'tracked' },
  ] as const;
  const crm = crmOf({ store, connection, mapping, properties: ['name', 'cvr', 'phone'].map(text), now, match: 'cvr' });
  const fixture: TransferFixture = {
    store,
    crm,
    records,
    fault: undefined,
    respell: undefined,
    silent: undefined,
    gate: undefined,
    verdict: undefined,
    finds: 'surely',
    calls,
    asked: [],
    answer: false,
    run(order, more, signal = AbortSignal.timeout(60_000)) {
      const { find, ...rest } = connection;
      const known = fixture.finds === 'never' ? { ...crm, connection: rest } : crm;
      const deps: TransferDeps = {
        store,
        crm: known,
        now,
        wait: async () => {},
        leaseMs: 30_000,
        reading: () => {},
        askName: async (same) => {
          fixture.asked.push(...same.map(({ id }) => id));
          return fixture.answer;
        },
        askNumber: async () => {
          fixture.asked.push(order.entity);
          return fixture.answer;
        },
        ...more,
      };
      return transfer(deps, order, signal);
    },
    async report(payload) {
      const entity = payload.entityId;
      const body = JSON.stringify(writePayload(payload));
      const event = { key: body.slice(0, 50), entity, timestamp: '2026-03-02T08:00:00.000Z', body };
      await store.write((tx) => insertReceipts(tx, [event], now()));
      const claims = await claim(store, 'apply', { limit: 9, now: now(), leaseMs: 9_000 });
      const deps = {
        store,
        wakeUp: createWakeUp(),
        metrics: createMetrics(),
        now,
        emailEvent: 'email',
        mapped: new Map(),
      };
      await applyReceipts(deps, claims);
    },
  };
  return fixture;
}

/** A timeout: nobody knows whether it was done. */
export const silence = (applied: boolean): TransferFixture['fault'] => ({
  error: new ProviderError('unavailable', 'no answer within 30 s'),
  applied,
});
