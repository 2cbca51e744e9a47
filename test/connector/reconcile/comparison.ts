/** A CRM that is a map, the small service and a store: what a reconcile compares, each of them a test's to change. */
import { onTestFinished } from 'vitest';
import { hubspot } from '../../../providers/hubspot/provider.ts';
import type { Connection, Page, Property, PropertyValue } from '../../../providers/provider.ts';
import type { Crm } from '../../../src/connector/crm/crm.ts';
import { type Link, linkRecord } from '../../../src/connector/links/links.ts';
import { openUpstream, type Upstream, upstreamRateLimiter } from '../../../src/connector/monitoring/upstream.ts';
import type { ReconcileContext } from '../../../src/connector/reconcile/context.ts';
import { type ExclusiveRunOptions, runExclusively } from '../../../src/connector/reconcile/exclusive-run.ts';
import { type Mandate, type Repaired, repairAll } from '../../../src/connector/reconcile/repair.ts';
import { rememberSizes, type Survey, survey } from '../../../src/connector/reconcile/survey.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { createRateLimiter } from '../../../src/runtime/limits/rate-limiter.ts';
import type { Store } from '../../../src/store/store.ts';
import { type FakeService, serveService } from '../../support/service.ts';
import { type ENGINES, newStore } from '../../support/stores.ts';

export const MATCH = 'cvr';
const property = (name: string): Property => ({ name, label: name, type: 'string', writable: true });

export type Records = Map<string, Readonly<Record<string, PropertyValue>>>;

/** An hour after the links were made. */
const NOW = 3_700_000;
export const LINKED_AT = 100_000;

export interface Comparison {
  readonly store: Store;
  readonly service: FakeService;
  readonly upstream: Upstream;
  readonly crm: Crm;
  /** What the CRM holds, by id; `cvr` is the number. */
  readonly records: Records;
  at: number;
  /** Asked before each page of the scan. */
  beforePage: (cursor: string | undefined) => Promise<Page | undefined> | Page | undefined;
  options: ExclusiveRunOptions;
  link(record: string, entity: string, more?: Partial<Link>): Promise<void>;
  /** Links a record that the CRM and the service know as well. */
  agree(record: string, number: string, more?: Partial<Link>): Promise<string>;
  survey(more?: Partial<ReconcileContext>): Promise<Survey>;
  reconcile(
    mandate?: Partial<Mandate>,
    more?: Partial<ReconcileContext>,
  ): Promise<{ found: Survey; repaired: Repaired }>;
  lanes(queue: string): Promise<readonly string[]>;
}

export interface FixtureOptions {
  readonly engine?: (typeof ENGINES)[number];
  readonly crm?: Partial<Crm>;
  readonly pageSize?: number;
}

export async function setComparison({
  engine = 'sqlite',
  crm: more,
  pageSize = 2,
}: FixtureOptions = {}): Promise<Comparison> {
  const store = await newStore(engine);
  const service = await serveService();
  const client = openClient({ deadlineMs: 60_000 });
  onTestFinished(() => client.close());
  const rateLimiter = upstreamRateLimiter(store, 60_000, Date.now);
  const upstream = openUpstream({
    baseUrl: service.url,
    accessKey: service.accessKey,
    http: client.http,
    rateLimiter,
    take: 2,
  });
  const records: Records = new Map();
  const connection: Connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => [property(MATCH)],
    read: async (ids) => ids.map((id) => ({ kind: 'gone', id })),
    update: async () => [],
    async scan(properties, cursor) {
      const scripted = await fixture.beforePage(cursor);
      if (scripted !== undefined) return scripted;
      const from = Number(cursor ?? 0);
      const all = [...records].slice(from, from + pageSize);
      const page = all.map(([id, of]) => ({
        id,
        properties: Object.fromEntries(properties.flatMap((name) => (name in of ? [[name, of[name] ?? null]] : []))),
      }));
      return { records: page, ...(from + pageSize < records.size && { cursor: String(from + pageSize) }) };
    },
  };
  const limits = { batch: { read: 10, update: 10 }, concurrency: 1, budgets: { default: { calls: 9, perMs: 1 } } };
  const now = (): number => fixture.at;
  const crm: Crm = {
    name: 'crm',
    provider: hubspot,
    settings: {},
    connection,
    limits,
    rateLimiter: createRateLimiter({ store, key: 'crm', budgets: limits.budgets, now }),
    mapping: [],
    values: {},
    hold: undefined,
    match: MATCH,
    notes: [],
    autoLink: false,
    persons: false,
    parent: false,
    pollMinutes: 10,
    reconcileHours: 24,
    schema: async () => new Map([MATCH, 'hold'].map((name) => [name, property(name)])),
    forgetSchema() {},
    ...more,
  };
  const fixture: Comparison = {
    store,
    service,
    upstream,
    crm,
    records,
    at: NOW,
    beforePage: () => undefined,
    options: { store, crm, now, leaseMs: 30_000 },
    async link(recordId, entity, row = {}) {
      const desired = { provider: crm.name, recordId, entity, sendUpdate: false, now: LINKED_AT };
      await store.write(async (tx) => {
        await linkRecord(tx, { ...desired, origin: 'number' });
        await tx.deleteFrom('lane').execute();
        await tx
          .updateTable('link')
          .set({ observed: 'on', ...row })
          .where('record_id', '=', recordId)
          .execute();
      });
    },
    async agree(record, number, row) {
      const entity = `CVR-1-${number}`;
      records.set(record, { [MATCH]: number });
      service.put(crm.name, entity, record);
      await fixture.link(record, entity, row);
      return entity;
    },
    survey: (setUp) => seized(fixture, setUp, (own) => survey(own, AbortSignal.timeout(60_000))),
    reconcile: (mandate, setUp) =>
      seized(fixture, setUp, async (own) => {
        const signal = AbortSignal.timeout(60_000);
        const found = await survey(own, signal);
        const repaired = await repairAll(own, found, { person: false, implausible: false, ...mandate }, signal);
        if (found.doubts.length === 0 || mandate?.implausible === true) await rememberSizes(own, found);
        return { found, repaired };
      }),
    async lanes(queue) {
      const rows = await store.db.selectFrom('lane').select('key').where('queue', '=', queue).orderBy('key').execute();
      return rows.map(({ key }) => key);
    },
  };
  return fixture;
}

async function seized<T>(
  { options, upstream }: Comparison,
  more: Partial<ReconcileContext> = {},
  work: (setUp: ReconcileContext) => Promise<T>,
): Promise<T> {
  const done = await runExclusively(options, async (claim) => ({
    value: { it: await work({ ...options, upstream, claim, ...more }) },
    isDone: true,
  }));
  if (done === undefined) throw new Error('somebody else reconciles');
  return done.it;
}

/** The kinds that occur, with how often. */
export const occurring = ({ counts }: Survey): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

/** A number that passes the register's check; distinct for each of some hundred thousand. */
export function numberAt(index: number): string {
  for (let candidate = 10_000_000 + index * 100; ; candidate += 1) {
    const digits = String(candidate);
    const sum = [2, 7, 6, 5, 4, 3, 2, 1].reduce((total, weight, at) => total + weight * Number(digits[at]), 0);
    if (sum % 11 === 0) return digits;
  }
}
