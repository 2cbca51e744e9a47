/** A mapped property that was missing, and is there now: nobody waits for a quarter of an hour. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Property, PropertyValue } from '../../providers/provider.ts';
import { applyReceipts } from '../../src/connector/apply/apply.ts';
import { mappedFields } from '../../src/connector/crm/crm.ts';
import { insertReceipts } from '../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { POLL_QUEUE, pollKey } from '../../src/connector/poll/poll-task.ts';
import { SCHEMA } from '../../src/connector/poll/schema-poll.ts';
import { runPolls, seedPolls } from '../../src/connector/poll.ts';
import { resolveReview } from '../../src/connector/review/resolve.ts';
import { readReview } from '../../src/connector/review/review-list.ts';
import { syncRecords } from '../../src/connector/sync/sync.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { writePayload } from '../../src/protocol/payload.ts';
import { claim, mark } from '../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import { ENTITY, reported } from '../faults/company.ts';
import { crmOf } from '../support/crm.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../support/stores.ts';
import { propertyOf } from './property-of.ts';

const MINUTE = 60_000;
const MAPPING = [
  { field: 'name', property: 'name', policy: 'tracked' },
  { field: 'email', property: 'mail', policy: 'tracked' },
  { field: 'website', property: 'site', policy: 'always', optional: true },
] as const;
const named = (name: string, more: Partial<Property> = {}) => propertyOf('string', { name, ...more });
const silent = { info() {}, warn() {}, error() {} };

/** A CRM with one record, whose account gets properties as time goes by; its schema is kept as a real one's is. */
async function setUp(engine: (typeof ENGINES)[number]) {
  const store = await newStore(engine);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const account = { time: Date.UTC(2026, 2, 3), properties: [named('name')], schemaReads: 0 };
  const now = () => account.time;
  const record: Record<string, PropertyValue> = { name: null };
  const base = crmOf({
    store,
    mapping: MAPPING,
    properties: [],
    now,
    connection: {
      check: async () => ({ id: '1', name: 'x', notes: [] }),
      properties: async () => account.properties,
      read: async (ids, names) =>
        ids.map((id) => ({
          kind: 'found',
          id,
          properties: Object.fromEntries(names.map((name) => [name, record[name] ?? null])),
        })),
      async update(patches) {
        for (const { properties } of patches) Object.assign(record, properties);
        return patches.map(({ id }) => ({ kind: 'written', id }));
      },
      scan: async () => ({ records: [] }),
    },
  });
  let known: { at: number; schema: ReadonlyMap<string, Property> } | undefined;
  const crm = {
    ...base,
    async schema(_signal: AbortSignal, maxAgeMs = 15 * MINUTE) {
      if (known === undefined || now() - known.at > maxAgeMs) {
        account.schemaReads += 1;
        known = { at: now(), schema: new Map(account.properties.map((each) => [each.name, each])) };
      }
      return known.schema;
    },
  };
  const metrics = createMetrics();
  const deps = { store, metrics, now, log: silent };
  const sync = async () => {
    const claims = await claim(store, 'sync:crm', { limit: 9, now: now(), leaseMs: 9_000 });
    await syncRecords(deps, crm, claims, stop.signal);
  };
  const look = async () => {
    await store.write((tx) => seedPolls(tx, [crm], now(), { schema: SCHEMA }));
    const keys = [pollKey('crm', 'schema')];
    const claims = await claim(store, POLL_QUEUE, { limit: 1, now: now(), leaseMs: 9_000, keys });
    const upstream = async () => undefined;
    await runPolls(
      { ...deps, wakeUp: createWakeUp(), upstream },
      { crms: [crm], tasks: { schema: SCHEMA } },
      claims,
      stop.signal,
    );
  };
  await store.write((tx) =>
    linkRecord(tx, { provider: 'crm', recordId: '7', entity: ENTITY, sendUpdate: false, now: now() }),
  );
  const updates = {
    name: { before: null, after: 'A ApS' },
    email: { before: null, after: 'post@a.example' },
    website: { before: null, after: 'www.a.example' },
  };
  const event = { key: 'a', entity: ENTITY, timestamp: '2026-03-02T08:00:00.000Z' };
  const body = JSON.stringify(writePayload(reported(updates, 8)));
  await store.write((tx) => insertReceipts(tx, [{ ...event, body }], now()));
  const claims = await claim(store, 'apply', { limit: 9, now: now(), leaseMs: 9_000 });
  await applyReceipts({ ...deps, wakeUp: createWakeUp(), emailEvent: 'email', mapped: mappedFields([crm]) }, claims);
  return { store, crm, account, record, sync, look, now };
}

describe.each(SUITE_ENGINES)('a mapped property that was missing (%s)', (engine) => {
  it('is filled by review retry once it was created, because the schema is read again', async () => {
    const { store, account, record, sync, now } = await setUp(engine);
    await sync();
    expect(record).toEqual({ name: 'A ApS' });
    const [waiting] = await readReview(store.db, now());
    expect(waiting).toMatchObject({ kind: 'value', reason: expect.stringContaining('mail') });
    account.time += MINUTE;
    account.properties.push(named('mail'));
    expect(await store.write((tx) => resolveReview(tx, 'retry', waiting?.id ?? '', now()))).toMatchObject({
      kind: 'done',
    });
    await sync();
    expect(record).toMatchObject({ mail: 'post@a.example' });
  });

  it('is not set aside by a schema from before its creation', async () => {
    const { crm, account, record, sync } = await setUp(engine);
    await crm.schema(new AbortController().signal);
    account.time += 10 * MINUTE;
    account.properties.push(named('mail'));
    await sync();
    expect(record).toMatchObject({ name: 'A ApS', mail: 'post@a.example' });
  });

  it('costs one read of the schema, not one for each sync', async () => {
    const { store, account, sync, now } = await setUp(engine);
    await sync();
    expect(account.schemaReads).toBe(1);
    account.time += MINUTE;
    await store.write((tx) => mark(tx, 'sync:crm', ['7'], now()));
    await sync();
    expect(account.schemaReads).toBe(1);
  });

  it('is filled in every record if it is optional in the preset and appears later', async () => {
    const { account, record, sync, look } = await setUp(engine);
    account.properties.push(named('mail'));
    await look();
    await sync();
    expect(record).toEqual({ name: 'A ApS', mail: 'post@a.example' });
    account.properties.push(named('site'));
    account.time += 15 * MINUTE;
    await look();
    await sync();
    expect(record).toMatchObject({ site: 'www.a.example' });
  });

  it('is filled in all records, even if they need several steps', async () => {
    const { store, account, look, now } = await setUp(engine);
    await look();
    await store.write(async (tx) => {
      for (let at = 0; at < 1_001; at += 1)
        await linkRecord(tx, { provider: 'crm', recordId: `r${at}`, entity: ENTITY, sendUpdate: false, now: now() });
      await tx.deleteFrom('lane').where('queue', '=', 'sync:crm').execute();
    });
    account.properties.push(named('site'));
    account.time += 15 * MINUTE;
    await look();
    const marked = await store.db.selectFrom('lane').select('key').where('queue', '=', 'sync:crm').execute();
    expect(marked).toHaveLength(1_002);
  });

  it('that now accepts other values gets the values that were set aside', async () => {
    const { account, record, sync, look } = await setUp(engine);
    account.properties = [named('name'), named('mail', { writable: false })];
    await look();
    await sync();
    expect(record).toEqual({ name: 'A ApS' });
    account.properties = [named('name'), named('mail')];
    account.time += 15 * MINUTE;
    await look();
    await sync();
    expect(record).toMatchObject({ mail: 'post@a.example' });
  });
});
