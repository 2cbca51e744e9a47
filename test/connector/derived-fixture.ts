/** The fixture for tests of notes and parents: a store, and a CRM that is scripted over the contract. */
import { onTestFinished } from 'vitest';
import type { Connection, NoteOutcome, Notes, Outcome, Parents, Read } from '../../providers/provider.ts';
import { applyReceipts } from '../../src/connector/apply/apply.ts';
import { openGate } from '../../src/connector/crm/ability.ts';
import type { Crm } from '../../src/connector/crm/crm.ts';
import { derivedRules } from '../../src/connector/derived.ts';
import { insertReceipts } from '../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { leaveNotes } from '../../src/connector/notes/leave.ts';
import { assignParents } from '../../src/connector/parents/assign-parent.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { canonicalBody, dedupeKey } from '../../src/protocol/dedupe.ts';
import { type Writable, writePayload } from '../../src/protocol/payload.ts';
import { claim } from '../../src/runtime/lanes/lanes.ts';
import { createRateLimiter } from '../../src/runtime/limits/rate-limiter.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { type ENGINES, newStoreUrl } from '../support/stores.ts';

/** A CRM as one test scripts it. */
export interface Scripted {
  /** What a read says of a record; found where it says nothing. */
  readonly reads: Map<string, Read>;
  /** The markers of the notes on each record, in the order they came. */
  readonly notes: Map<string, string[]>;
  readonly parents: Map<string, string | null>;
  /** Calls, as `add 1`, `find 1`, `read 1,2`. */
  readonly calls: string[];
  /** Called before a note is added: throws, waits, or answers in its place. */
  onAdd: ((id: string) => NoteOutcome | undefined | Promise<NoteOutcome | undefined>) | undefined;
  /** Called after a note was added: throws if the answer is lost. */
  onAdded: (() => void | Promise<void>) | undefined;
  /** The same, before a parent is written. */
  onWrite: ((id: string) => Outcome | undefined | Promise<Outcome | undefined>) | undefined;
}

export interface Fixture extends Scripted {
  readonly store: Store;
  readonly crm: Crm;
  /** The clock, in ms since 1970. */
  time: number;
  link(recordId: string, entity: string): Promise<void>;
  /** Takes webhooks in and applies them; `key` tells one apart that is otherwise the same. */
  report(payload: Writable, key?: string): Promise<void>;
  /** Applies what waits. */
  apply(): Promise<void>;
  /** One run of the worker that leaves notes, over all that is due. */
  leave(): Promise<void>;
  /** One run of the worker that gives parents. */
  give(): Promise<void>;
  /** The lanes of a queue, as `key error`. */
  lanes(queue: string): Promise<readonly string[]>;
  /** What history says of a record under a rule. */
  reported(recordId: string, rule: string): Promise<readonly (string | null)[]>;
}

export interface FixtureOptions extends Partial<Pick<Crm, 'notes' | 'persons' | 'parent' | 'hold'>> {
  readonly engine: (typeof ENGINES)[number];
  /** A store that another fixture opened: a second replica. */
  readonly url?: string;
}

const START = Date.UTC(2026, 2, 3);

export async function newFixture(options: FixtureOptions): Promise<Fixture & { readonly url: string }> {
  const url = options.url ?? (await newStoreUrl(options.engine));
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const script: Scripted = {
    reads: new Map(),
    notes: new Map(),
    parents: new Map(),
    calls: [],
    onAdd: undefined,
    onAdded: undefined,
    onWrite: undefined,
  };
  const base = { ...script, url, time: START };
  const now = () => base.time;
  const crm = crmOf(store, connectionOf(base), options, now);
  const metrics = createMetrics();
  const claims = (queue: string) => claim(store, queue, { limit: 50, now: now(), leaseMs: 30_000 });
  const signal = AbortSignal.timeout(60_000);
  const apply = async () => {
    const taken = await claims('apply');
    const deps = { store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped: new Map() };
    if (taken.length > 0) await applyReceipts({ ...deps, ...derivedRules([crm]) }, taken);
  };
  const gates = { notes: openGate(store, crm, 'notes', now), parents: openGate(store, crm, 'parents', now) };
  return Object.assign(base, {
    store,
    crm,
    apply,
    async link(recordId: string, entity: string) {
      await store.write((tx) => linkRecord(tx, { provider: 'crm', recordId, entity, sendUpdate: false, now: now() }));
      await apply();
    },
    async report(payload: Writable, key = '') {
      const json = writePayload(payload);
      const event = {
        key: dedupeKey(undefined, json) + key,
        entity: payload.entityId,
        timestamp: payload.timestamp,
        body: canonicalBody(json),
      };
      await store.write((tx) => insertReceipts(tx, [event], now()));
      await apply();
    },
    async leave() {
      if ((await gates.notes.blockedUntil()) > now()) return;
      const taken = await claims('note:crm');
      if (taken.length > 0) await leaveNotes({ store, metrics, now, gate: gates.notes }, crm, taken, signal);
    },
    async give() {
      const taken = await claims('parent:crm');
      if (taken.length > 0) await assignParents({ store, metrics, now, gate: gates.parents }, crm, taken, signal);
    },
    async lanes(queue: string) {
      const rows = await store.db.selectFrom('lane').selectAll().where('queue', '=', queue).orderBy('key').execute();
      return rows.map(({ key, error }) => `${key} ${error ?? ''}`.trim());
    },
    async reported(recordId: string, rule: string) {
      const rows = await store.db
        .selectFrom('history')
        .select('detail')
        .where('record_id', '=', recordId)
        .where('rule', '=', rule)
        .orderBy('id')
        .execute();
      return rows.map(({ detail }) => detail);
    },
  });
}

function crmOf(store: Store, connection: Connection, options: FixtureOptions, now: () => number): Crm {
  const { notes = [], persons = false, parent = false, hold } = options;
  const limits = { batch: { read: 10, update: 10 }, concurrency: 1, budgets: { default: { calls: 9, perMs: 1 } } };
  return {
    name: 'crm',
    provider: {
      name: 'crm',
      contract: '2.0.0',
      about: 'scripted',
      settings: { type: 'object', properties: {} },
      preset: [],
      limits: () => limits,
      connect: async () => connection,
    },
    settings: {},
    connection,
    limits,
    rateLimiter: createRateLimiter({ store, key: 'crm', budgets: limits.budgets, now }),
    mapping: [],
    values: {},
    hold,
    match: undefined,
    notes,
    autoLink: false,
    persons,
    parent,
    pollMinutes: 0,
    reconcileHours: 0,
    schema: async () => new Map(),
    forgetSchema() {},
  };
}

function connectionOf(script: Scripted): Connection {
  const { calls } = script;
  const stateOf = (id: string): Read => script.reads.get(id) ?? { kind: 'found', id, properties: {} };
  const notes: Notes = {
    async find(recordId, marker) {
      calls.push(`find ${recordId}`);
      const at = script.notes.get(recordId)?.indexOf(marker) ?? -1;
      return at < 0 ? undefined : `note-${at}`;
    },
    async add({ recordId, marker }) {
      calls.push(`add ${recordId}`);
      const early = await script.onAdd?.(recordId);
      if (early !== undefined) return early;
      const all = script.notes.get(recordId) ?? [];
      script.notes.set(recordId, [...all, marker]);
      await script.onAdded?.();
      return { kind: 'written', id: `note-${all.length}` };
    },
  };
  const parents: Parents = {
    async read(ids) {
      calls.push(`parents ${ids.join(',')}`);
      return ids.map((id) => {
        const read = stateOf(id);
        if (read.kind === 'gone' || read.kind === 'moved') return read;
        return { kind: 'found', id, parent: script.parents.get(id) ?? null };
      });
    },
    async write({ id, parent, was }) {
      calls.push(`parent ${id} ${was ?? '-'} ${parent ?? '-'}`);
      const early = await script.onWrite?.(id);
      if (early !== undefined) return early;
      script.parents.set(id, parent);
      return { kind: 'written', id };
    },
  };
  return {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => [],
    async read(ids) {
      calls.push(`read ${ids.join(',')}`);
      return ids.map(stateOf);
    },
    update: async (patches) => patches.map(({ id }) => ({ kind: 'written', id })),
    scan: async () => ({ records: [] }),
    notes,
    parents,
  };
}
