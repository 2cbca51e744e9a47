import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { documentOf } from '../../../src/commands/emulate/sample/document.ts';
import { statesWholeCompany } from '../../../src/protocol/full-state.ts';
import { readPayload, writePayload } from '../../../src/protocol/payload.ts';
import { sampleCompany } from '../../../src/protocol/sample/company.ts';
import { randomFrom } from '../../../src/protocol/sample/random.ts';
import { sampleReport } from '../../../src/protocol/sample/report.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { type StateDeps, sendFullStates } from '../../../src/service/items/full-state.ts';
import { addItem, removeItem } from '../../../src/service/items/items.ts';
import { activate, disable } from '../../../src/service/monitors/monitors.ts';
import { STATE_QUEUE } from '../../../src/service/names/queues.ts';
import { publish } from '../../../src/service/publish/publish.ts';
import { readDocument } from '../../../src/service/register/document/document.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { changed, deliveries, lanes, made, NOW, PERSON } from '../monitored.ts';

const HOUR = 3_600_000;
const company = sampleCompany(1);
const never = new AbortController().signal;

function deps(store: Store, over: Partial<StateDeps> = {}) {
  const said: string[] = [];
  const log = {
    info: (details: object, message: string) => said.push(`${message} ${JSON.stringify(details)}`),
    warn: (_: object, message: string) => said.push(message),
  };
  return { said, deps: { store, wakeUp: createWakeUp(), now: () => NOW, placeType: 'Place', log, ...over } };
}

/** Lists the company with an update wished. */
const wished = (store: Store, monitor: string, entity = company.entityId) =>
  store.write((tx) => addItem(tx, { monitor, entity, recordId: 'r1', sendUpdate: true, now: NOW }));

/** The watcher sees the company. */
async function seen(store: Store, loadedAt = NOW - HOUR): Promise<void> {
  const at = NOW - 2 * HOUR;
  const reading = readDocument(documentOf([{ company, from: '2026-08-31', at }], { loadedAt }), '2026-09-01');
  if (reading.kind !== 'company') expect.fail(`read a ${reading.kind}`);
  const row = {
    entity: company.entityId,
    body: JSON.stringify(reading.company),
    digest: '',
    loaded_at: reading.loadedAt,
  };
  await store.write((tx) =>
    tx
      .insertInto('snapshot')
      .values({ ...row, ahead: null, updated_at: NOW })
      .execute(),
  );
}

async function run({ store, now }: StateDeps, given = deps(store)) {
  const claims = await claim(store, STATE_QUEUE, { limit: 100, now: now(), leaseMs: 30_000 });
  await sendFullStates({ ...given.deps, now }, claims, never);
  return claims.length;
}

const told = async (store: Store) => (await deliveries(store)).filter(({ events }) => !events.includes('Monitor"'));

describe.each(ENGINES)('a company whose change is published while it is listed, on %s', (engine) => {
  it('is sent as it is after the change, and the list is not notified of the change', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm' });
    await seen(store);
    const committed = Promise.withResolvers<void>();
    const published = Promise.withResolvers<void>();
    const publishing = store.write(async (tx) => {
      await publish(tx, [changed({ entity: company.entityId })], { now: NOW });
      const { body } = await tx.selectFrom('snapshot').select('body').executeTakeFirstOrThrow();
      await tx
        .updateTable('snapshot')
        .set({ body: JSON.stringify({ ...JSON.parse(body), name: 'Fornyet ApS' }) })
        .execute();
      published.resolve();
      if (engine === 'postgres') await committed.promise;
    });
    await published.promise;
    await wished(store, job.id);
    const sending = run(deps(store).deps);
    const waits = async () =>
      (await sql`select 1 from pg_locks where locktype = 'advisory' and not granted`.execute(store.db)).rows.length;
    const waiting = async () => {
      while ((await waits()) === 0) await setImmediate();
    };
    if (engine === 'postgres') await Promise.race([sending, waiting()]);
    committed.resolve();
    await Promise.all([publishing, sending]);
    const states = await store.db.selectFrom('change').select('name').where('kind', '=', 'state').execute();
    expect(states).toEqual([{ name: 'Fornyet ApS' }]);
  });
});

describe.each(SUITE_ENGINES)('full states on %s', (engine) => {
  it('are sent once to the monitor that asked, as a payload that states the whole company', async () => {
    const store = await newStore(engine);
    const [job] = [await made(store, { provider: 'crm' }), await made(store, { target: 'all' })];
    await seen(store);
    await wished(store, job.id);
    const { deps: given } = deps(store);
    expect(await run(given)).toBe(1);
    expect(await run(given)).toBe(0);
    expect((await told(store)).map(({ monitor, state }) => ({ monitor, state }))).toEqual([
      { monitor: job.id, state: 'due' },
    ]);
    const row = await store.db.selectFrom('change').selectAll().where('kind', '=', 'state').executeTakeFirstOrThrow();
    const wire = writePayload({ entityId: row.entity, timestamp: row.timestamp, updates: JSON.parse(row.updates) });
    const read = readPayload(wire);
    expect(read.ok && statesWholeCompany(read.payload)).toBe(true);
    expect(read.ok && read.payload.updates.name).toEqual({ before: null, after: company.name });
    // Asked for again, it is sent again.
    await wished(store, job.id);
    await run(given);
    expect(await told(store)).toHaveLength(2);
  });

  it('include the newest annual report if one was read', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm' });
    await seen(store);
    await wished(store, job.id);
    const data = sampleReport(randomFrom(1), company.entityId.slice(-8), company.name, 2025);
    const filing = { id: 'urn:1', entity: company.entityId, period_start: '2025-01-01', period_end: '2025-12-31' };
    const read = {
      published_at: '',
      data: JSON.stringify(data),
      error: null,
      retry_at: null,
      record: null,
    };
    const bare = { period: null, assets: null };
    const undated = { id: 'urn:2', period_start: null, period_end: null, data: JSON.stringify({ ...data, ...bare }) };
    const rows = [{ ...filing, ...read, attempts: 0 }];
    await store.write((tx) =>
      tx
        .insertInto('filing')
        .values([...rows, ...rows.map((row) => ({ ...row, ...undated }))])
        .execute(),
    );
    await run(deps(store).deps);
    const row = await store.db.selectFrom('change').selectAll().where('kind', '=', 'state').executeTakeFirstOrThrow();
    const wire = writePayload({ entityId: row.entity, timestamp: row.timestamp, updates: JSON.parse(row.updates) });
    const payload = readPayload(wire);
    expect(payload.ok && statesWholeCompany(payload.payload)).toBe(true);
    expect(payload.ok && payload.payload.updates.newReport?.data).toEqual(data);
  });

  it('have the time of the newest change in them, so that no later change looks older', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm' });
    await seen(store);
    await wished(store, job.id);
    const newest = '2026-09-01T06:45:00.000Z';
    const { entityId: entity } = company;
    const register = changed({ entity, timestamp: newest });
    const article = changed({ entity, kind: 'article', timestamp: '2026-09-01T07:45:00.000Z' });
    await store.write((tx) => publish(tx, [register, article], { now: NOW }));
    await run(deps(store).deps);
    const row = await store.db.selectFrom('change').select('timestamp').where('kind', '=', 'state').executeTakeFirst();
    expect(row?.timestamp).toBe(newest);
  });

  it('are no newer than their document, which lacks later changes of units and other companies', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm' });
    await seen(store);
    await wished(store, job.id);
    const { entityId: entity } = company;
    const since = changed({ entity, timestamp: '2026-09-01T07:30:00.000Z' });
    await store.write((tx) => publish(tx, [since], { now: NOW }));
    await run(deps(store).deps);
    const row = await store.db.selectFrom('change').select('timestamp').where('kind', '=', 'state').executeTakeFirst();
    expect(row?.timestamp).toBe(new Date(NOW - HOUR).toISOString());
  });

  it('wait up to a day for a company that the watcher has not read yet', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm' });
    await wished(store, job.id);
    const { said, deps: given } = deps(store);
    await run(given);
    expect(await told(store)).toEqual([]);
    expect(await run({ ...given, now: () => NOW + 1_000 })).toBe(0);
    let runs = 0;
    for (let now = NOW; now < NOW + 24 * HOUR; now += HOUR / 4) runs += await run({ ...given, now: () => now });
    expect(runs).toBeGreaterThan(50);
    expect(said).toEqual([]);
    expect(await run({ ...given, now: () => NOW + 24 * HOUR + HOUR / 4 }, { said, deps: given })).toBe(1);
    expect(said.join()).toContain(company.entityId);
    expect(await lanes(store, STATE_QUEUE)).toEqual([]);
  });

  it('are sent once the watcher has read the company', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm' });
    await wished(store, job.id);
    const { deps: given } = deps(store);
    await run(given);
    await seen(store);
    await run({ ...given, now: () => NOW + HOUR });
    expect(await told(store)).toHaveLength(1);
    expect(await lanes(store, STATE_QUEUE)).toEqual([]);
  });

  it('are requested from the register if possible, and wait if it fails', async () => {
    const store = await newStore(engine);
    const [one, other] = [await made(store, { provider: 'crm' }), await made(store, { provider: 'erp' })];
    for (const { id } of [one, other]) await wished(store, id);
    const asked: string[] = [];
    let isUp = false;
    const given = deps(store, {
      async fetch(entity) {
        asked.push(entity);
        if (!isUp) throw new Error('the register is away');
        await seen(store);
      },
    });
    await run(given.deps, given);
    expect(given.said).toEqual(['could not fetch a company from the register: trying again']);
    isUp = true;
    await run({ ...given.deps, now: () => NOW + HOUR }, given);
    expect(asked).toEqual([company.entityId, company.entityId]);
    expect((await told(store)).map(({ monitor }) => monitor).toSorted()).toEqual([one.id, other.id].toSorted());
  });

  it('are not sent for entities that are no longer listed, or for persons', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm' });
    await seen(store);
    await wished(store, job.id);
    await wished(store, job.id, PERSON);
    const { entityId: entity } = company;
    await store.write((tx) => removeItem(tx, { monitor: job.id, entity, recordId: 'r1', now: NOW }));
    expect(await run(deps(store).deps)).toBe(2);
    expect(await told(store)).toEqual([]);
    expect(await lanes(store, STATE_QUEUE)).toEqual([]);
  });

  it('are held while the monitor is disabled, and have only the events that it selected', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm', enabled: false, events: ['website', 'name', 'newArticle'] });
    await seen(store);
    await wished(store, job.id);
    await run(deps(store).deps);
    expect(await told(store)).toEqual([]);
    await store.write((tx) => activate(tx, job.id, NOW));
    await store.write((tx) => disable(tx, job.id, 'person', NOW));
    await wished(store, job.id);
    await run(deps(store).deps);
    expect(await told(store)).toMatchObject([{ state: 'held', events: '["name","website"]' }]);
  });

  it('are not sent by a run that lost its claim', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm' });
    await seen(store);
    await wished(store, job.id);
    const late = await claim(store, STATE_QUEUE, { limit: 10, now: NOW, leaseMs: 1_000 });
    const again = await claim(store, STATE_QUEUE, { limit: 10, now: NOW + 2_000, leaseMs: 1_000 });
    await sendFullStates(deps(store).deps, late, never);
    expect(await told(store)).toEqual([]);
    await sendFullStates(deps(store).deps, again, never);
    expect(await told(store)).toHaveLength(1);
  });
});
