/** A CRM and a monitoring service small enough to hold in one's head, over the real contracts, and the workers on them. */

import Type from 'typebox';
import { onTestFinished } from 'vitest';
import {
  type ChangeHint,
  type Connection,
  defineProvider,
  type Property,
  type PropertyValue,
  type Read,
} from '../../../providers/provider.ts';
import { type Crm, type CrmConfig, openCrm } from '../../../src/connector/crm/crm.ts';
import { healRecords } from '../../../src/connector/heal/heal.ts';
import { findLink, type Link, type LinkRequest, linkRecord } from '../../../src/connector/links/links.ts';
import { monitorLinks } from '../../../src/connector/monitoring/monitoring.ts';
import type { Upstream, UpstreamResult } from '../../../src/connector/monitoring/upstream.ts';
import { healQueue } from '../../../src/connector/names/queues.ts';
import { POLL_QUEUE, pollKey } from '../../../src/connector/poll/poll-task.ts';
import { runPolls } from '../../../src/connector/poll.ts';
import { createMetrics, type Metrics } from '../../../src/http/metrics.ts';
import { nextDue } from '../../../src/runtime/lanes/lane-state.ts';
import { claim, mark } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/store.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { type ENGINES, newStore } from '../../support/stores.ts';

export const A = `CVR-1-${cvrNumber(0)}`;
export const B = `CVR-1-${cvrNumber(1)}`;
export const C = `CVR-1-${cvrNumber(2)}`;
export const numberOf = (entity: string): string => entity.slice('CVR-1-'.length);

const text = (name: string): Property => ({ name, label: name, type: 'string', writable: true });

type Held = Readonly<Record<string, PropertyValue>> | { readonly movedTo: string } | 'hidden' | undefined;

export interface Fixture {
  readonly store: Store;
  readonly crm: Crm;
  readonly metrics: Metrics;
  /** Sets a record, as a person would. */
  put(id: string, properties: Readonly<Record<string, PropertyValue>>): void;
  remove(id: string): void;
  merge(from: string, to: string): void;
  /** Answers reads of a record with retry. */
  hide(id: string): void;
  /** What `changes` tells next. */
  readonly changeHints: ChangeHint[];
  /** The properties that the account shows. */
  readonly schema: Property[];
  /** Ids of the calls to read, call by call. */
  readonly reads: string[][];
  /** Called in the middle of every read. */
  meanwhile: (() => Promise<unknown>) | undefined;
  /** What upstream answers; it takes everything if this is undefined. */
  answer: UpstreamResult | undefined;
  /** What upstream monitors: `entity record`, sorted. */
  items(): readonly string[];
  now: number;
  link(recordId: string, entity: string, origin?: LinkRequest['origin']): Promise<unknown>;
  /** Marks records to be looked at, as a webhook does. */
  hint(...ids: string[]): Promise<void>;
  /** Lets every worker run until nothing is due, time included up to `forMs`. */
  settle(forMs?: number): Promise<void>;
  /** One run of the heal worker. */
  healOnce(): Promise<void>;
  /** Asks the CRM what happened. */
  poll(): Promise<void>;
  row(recordId: string): Promise<Link | undefined>;
  lanes(queue: string): Promise<readonly { key: string; error: string | null; parked_at: number | null }[]>;
}

export async function newFixture(
  engine: (typeof ENGINES)[number],
  config: Partial<Pick<CrmConfig, 'autoLink' | 'match' | 'hold' | 'parent'>> = {},
): Promise<Fixture> {
  const store = await newStore(engine);
  const records = new Map<string, Held>();
  const items = new Set<string>();
  const signal = new AbortController();
  onTestFinished(() => signal.abort());

  const readOne = (id: string, properties: readonly string[]): Read => {
    const held = records.get(id);
    if (held === undefined) return { kind: 'gone', id };
    if (held === 'hidden') return { kind: 'retry', id, reason: 'hidden just now' };
    if ('movedTo' in held) return { kind: 'moved', id, to: String(held.movedTo) };
    return { kind: 'found', id, properties: Object.fromEntries(properties.map((name) => [name, held[name] ?? null])) };
  };
  const connection: Connection = {
    check: async () => ({ id: 'account', name: 'A CRM', notes: [] }),
    properties: async () => fixture.schema,
    async read(ids, properties) {
      fixture.reads.push([...ids]);
      await fixture.meanwhile?.();
      return ids.map((id) => readOne(id, properties));
    },
    update: async (patches) => patches.map(({ id }) => ({ kind: 'written', id })),
    scan: async () => ({ records: [] }),
    async changes(_properties, cursor) {
      const [first, ...rest] = fixture.changeHints.splice(0);
      fixture.changeHints.push(...rest);
      const next = String(Number(cursor ?? 0) + 1);
      return { changeHints: first === undefined ? [] : [first], cursor: next, more: rest.length > 0 };
    },
  };
  const provider = defineProvider({
    name: 'small',
    contract: '2.0.0',
    about: 'a CRM in memory',
    settings: Type.Object({}),
    preset: [],
    limits: () => ({
      batch: { read: 100, update: 100 },
      concurrency: 1,
      budgets: { default: { calls: 1_000, perMs: 1_000 } },
    }),
    connect: async () => connection,
  });
  const metrics = createMetrics();
  const now = () => fixture.now;
  const http = () => Promise.reject(new Error('a CRM in memory calls nobody'));
  const crm = await openCrm(
    { store, http, metrics, now },
    {
      name: 'crm',
      provider,
      settings: {},
      match: 'cvr',
      mapping: [],
      values: {},
      hold: undefined,
      notes: [],
      autoLink: true,
      persons: false,
      parent: false,
      pollMinutes: 10,
      reconcileHours: 0,
      ...config,
    },
  );
  const upstream: Upstream = {
    async add(item) {
      if (fixture.answer === undefined) items.add(`${item.entityId} ${item.id}`);
      return fixture.answer ?? { kind: 'done' };
    },
    async remove(item) {
      if (fixture.answer === undefined) items.delete(`${item.entityId} ${item.id}`);
      return fixture.answer ?? { kind: 'done' };
    },
    jobs: async () => [],
    async *items() {},
  };
  const take = (queue: string) => claim(store, queue, { limit: 100, now: fixture.now, leaseMs: 60_000 });
  const healOnce = async (): Promise<number> => {
    const claims = await take(healQueue('crm'));
    if (claims.length > 0) await healRecords({ store, metrics, now }, crm, claims, signal.signal);
    return claims.length;
  };
  const monitorOnce = async (): Promise<number> => {
    const claims = await take('monitoring');
    await monitorLinks({ store, upstream, now }, claims, signal.signal);
    return claims.length;
  };

  const fixture: Fixture = {
    store,
    crm,
    metrics,
    put: (id, properties) => void records.set(id, properties),
    remove: (id) => void records.delete(id),
    hide: (id) => void records.set(id, 'hidden'),
    merge: (from, to) => void records.set(from, { movedTo: to }),
    changeHints: [],
    schema: [text('cvr'), text('hold')],
    reads: [],
    meanwhile: undefined,
    answer: undefined,
    items: () => [...items].toSorted(),
    now: 1_000_000,
    link: (recordId, entity, origin = 'number') =>
      store.write((tx) =>
        linkRecord(tx, { provider: 'crm', recordId, entity, origin, sendUpdate: false, now: fixture.now }),
      ),
    hint: (...ids) => store.write((tx) => mark(tx, healQueue('crm'), ids, fixture.now)),
    async healOnce() {
      await healOnce();
    },
    async settle(forMs = 60_000) {
      const until = fixture.now + forMs;
      for (;;) {
        while ((await monitorOnce()) + (await healOnce()) > 0);
        const queues = ['monitoring', healQueue('crm')];
        const dues = await Promise.all(queues.map((queue) => nextDue(store.db, queue, fixture.now)));
        const next = Math.min(...dues.map((due) => due ?? Number.POSITIVE_INFINITY));
        if (next > until) break;
        fixture.now = next;
      }
      fixture.now = until;
    },
    async poll() {
      const key = pollKey('crm', 'changes');
      await store.write((tx) => mark(tx, POLL_QUEUE, [key], fixture.now));
      const claims = await claim(store, POLL_QUEUE, { limit: 1, now: fixture.now, leaseMs: 60_000, keys: [key] });
      const log = { info() {}, warn() {} };
      const deps = { store, metrics, now, log, wakeUp: createWakeUp(), upstream: async () => upstream };
      await runPolls(deps, { crms: [crm] }, claims, signal.signal);
      await store.write((tx) => tx.deleteFrom('lane').where('queue', '=', POLL_QUEUE).execute());
    },
    row: (recordId) => findLink(store.db, { provider: 'crm', recordId }),
    lanes: (queue) =>
      store.db
        .selectFrom('lane')
        .select(['key', 'error', 'parked_at'])
        .where('queue', '=', queue)
        .orderBy('key')
        .execute(),
  };
  return fixture;
}

/** Hints at records one after the other, and heals each before the next. */
export async function report(fixture: Fixture, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    await fixture.hint(id);
    await fixture.healOnce();
  }
  await fixture.settle();
}
