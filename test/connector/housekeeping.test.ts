import { describe, expect, it } from 'vitest';
import { runHousekeeping, seedHousekeeping } from '../../src/connector/housekeeping.ts';
import { RETENTION } from '../../src/runtime/housekeeping/retention.ts';
import { claim } from '../../src/runtime/lanes/lanes.ts';
import { recordAudit } from '../../src/runtime/operators/audit.ts';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, newStore } from '../support/stores.ts';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;
const never = new AbortController().signal;

async function run(store: Store, now = NOW, signal = never, retention = RETENTION): Promise<string[]> {
  await store.write((tx) => seedHousekeeping(tx, now));
  const claims = await claim(store, 'housekeeping', { limit: 20, now, leaseMs: 30_000 });
  await runHousekeeping({ store, now: () => now, retention }, claims, signal);
  return claims.map(({ key }) => key).sort();
}

const receipt = (key: string, daysAgo: number, applied = true) => ({
  dedupe_key: key,
  entity: 'CVR-1-99000015',
  timestamp: '2026-08-14T09:30:00.000Z',
  body: '{}',
  received_at: NOW - daysAgo * DAY,
  applied_at: applied ? NOW - daysAgo * DAY : null,
});

const receipts = async (store: Store) => {
  const rows = await store.db.selectFrom('receipt').select(['dedupe_key', 'body']).orderBy('seq').execute();
  return rows.map(({ dedupe_key, body }) => `${dedupe_key} ${body ?? 'pruned'}`);
};

const decision = (at: number) => ({
  at,
  provider: 'hubspot',
  record_id: '1',
  entity: 'CVR-1-99000015',
  seq: 0,
  rule: 'always',
  outcome: 'written',
});

describe.each(ENGINES)('housekeeping on %s', (engine) => {
  it('keeps each kind for its configured number of days', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await tx
        .insertInto('receipt')
        .values([receipt('ten', 10), receipt('six', 6), receipt('two', 2)])
        .execute();
      await tx
        .insertInto('history')
        .values([decision(NOW - 10 * DAY), decision(NOW - 2 * DAY)])
        .execute();
      const entry = { actor: { kind: 'user', name: 'birk' }, via: 'command', action: 'x.y', result: 'done' } as const;
      for (const days of [10, 2]) await recordAudit(tx, entry, NOW - days * DAY);
    });
    const short = { ...RETENTION, bodies: 5, receipts: 7, decisions: 7, audit: 7 };
    await run(store, NOW, never, short);
    expect(await receipts(store)).toEqual(['six pruned', 'two {}']);
    const left = (table: 'history' | 'audit') => store.db.selectFrom(table).select('at').execute();
    expect([await left('history'), await left('audit')]).toEqual([[{ at: NOW - 2 * DAY }], [{ at: NOW - 2 * DAY }]]);
    await run(store, NOW, never, { ...short, bodies: 1 });
    expect(await receipts(store)).toEqual(['six pruned', 'two pruned']);
  });

  it('deletes bodies after 30 days and receipts after 90, but no pending ones', async () => {
    const store = await newStore(engine);
    const rows = [
      receipt('stuck', 200, false),
      receipt('ancient', 91),
      receipt('old', 89),
      receipt('waiting', 40, false),
      receipt('older', 31),
      receipt('young', 29),
    ];
    await store.write((tx) => tx.insertInto('receipt').values(rows).execute());
    await run(store);
    expect(await receipts(store)).toEqual(['stuck {}', 'old pruned', 'waiting {}', 'older pruned', 'young {}']);
    const place = store.db.selectFrom('kv').select('updated_at').where('key', '=', 'housekeeping:bodies');
    expect(await place.executeTakeFirst()).toEqual({ updated_at: NOW });
    await run(store, NOW + 2 * DAY);
    expect(await receipts(store)).toEqual(['stuck {}', 'waiting {}', 'older pruned', 'young pruned']);
  });

  it('continues after a row that was written while the clock was ahead', async () => {
    const store = await newStore(engine);
    const ahead = Array.from({ length: 600 }, (_, at) => receipt(`ahead ${at}`, -300));
    await store.write(async (tx) => {
      await tx
        .insertInto('receipt')
        .values([...ahead, receipt('ancient', 91), receipt('old', 89)])
        .execute();
      await tx
        .insertInto('history')
        .values([decision(NOW + 300 * DAY), decision(NOW - 401 * DAY)])
        .execute();
    });
    await run(store);
    expect((await receipts(store)).slice(-2)).toEqual(['ahead 599 {}', 'old pruned']);
    const history = await store.db.selectFrom('history').select('at').execute();
    expect(history).toEqual([{ at: NOW + 300 * DAY }]);
  });

  it('deletes the facts and earlier values of companies without a record for 400 days', async () => {
    const store = await newStore(engine);
    const fact = (entity: string) => ({
      entity,
      field: 'name',
      value: '{}',
      clock: '2024-01-01T00:00:00.000Z',
      seq: 1,
    });
    const known = (entity: string, daysAgo: number) => ({
      ...{ entity, field: 'name', digest: `${daysAgo}`, value: '"a"', seen_at: NOW - daysAgo * DAY },
    });
    const link = (entity: string, state: 'active' | 'conflict' | 'gone', daysAgo: number) => ({
      ...{ provider: 'hubspot', record_id: entity, entity, state, desired: 'on' as const, observed: 'on' as const },
      ...{ created_at: 0, updated_at: NOW - daysAgo * DAY },
      ...{ send_update: 0, synced_seq: 0, origin: 'person' as const, trust: 'crm' as const, writes_number: 0 },
    });
    const companies = [
      'in conflict',
      'received lately',
      'linked',
      'ended lately',
      'ended long ago',
      'never linked',
      'seen lately',
    ];
    await store.write(async (tx) => {
      await tx.insertInto('fact').values(companies.map(fact)).execute();
      await tx
        .insertInto('known_value')
        .values(companies.map((entity) => known(entity, 401)))
        .execute();
      await tx.insertInto('known_value').values(known('seen lately', 399)).execute();
      await tx
        .insertInto('link')
        .values([
          link('linked', 'active', 500),
          link('in conflict', 'conflict', 500),
          link('ended lately', 'gone', 399),
          link('ended long ago', 'gone', 401),
        ])
        .execute();
      await tx
        .insertInto('receipt')
        .values({ ...receipt('r', 1), entity: 'received lately' })
        .execute();
    });
    await run(store);
    const kept = ['ended lately', 'in conflict', 'linked', 'received lately', 'seen lately'];
    const facts = await store.db.selectFrom('fact').select('entity').orderBy('entity').execute();
    expect(facts.map(({ entity }) => entity)).toEqual(kept);
    const values = await store.db.selectFrom('known_value').select('entity').distinct().orderBy('entity').execute();
    expect(values.map(({ entity }) => entity)).toEqual(kept);
  });

  it('works in steps, and lets others write in between', async () => {
    const store = await newStore(engine);
    const old = Array.from({ length: 1_200 }, (_, at) => receipt(`${at}`, 100 - at / 100));
    await store.write((tx) => tx.insertInto('receipt').values(old).execute());
    const running = run(store);
    await store.write((tx) => tx.insertInto('receipt').values(receipt('new', 0)).execute());
    await running;
    const left = await receipts(store);
    expect(left).toHaveLength(201);
    expect(left.filter((line) => line.endsWith('pruned'))).toHaveLength(200);
  });

  it('keeps finished notes for 400 days, and due ones for ever', async () => {
    const store = await newStore(engine);
    const note = (marker: string, state: 'done' | 'due', daysAgo: number) => ({
      ...{ provider: 'hubspot', record_id: '1', entity: 'CVR-1-99000015', seq: 1, subject: '', body: '', at: 0 },
      ...{ marker, state, attempted_at: null, note_id: null, done_at: state === 'done' ? NOW - daysAgo * DAY : null },
    });
    const old = Array.from({ length: 1_001 }, (_, at) => note(`old ${at}`, 'done', 401));
    await store.write((tx) => tx.insertInto('note').values(old).execute());
    const kept = [note('young', 'done', 399), note('waiting', 'due', 500)];
    await store.write((tx) => tx.insertInto('note').values(kept).execute());
    await run(store);
    const left = await store.db.selectFrom('note').select('marker').orderBy('marker').execute();
    expect(left.map(({ marker }) => marker)).toEqual(['waiting', 'young']);
  });

  it('keeps 400 days of history and the newest 200 unusable bodies', async () => {
    const store = await newStore(engine);
    const made = Array.from({ length: 700 }, (_, at) => decision(NOW - (460 - at / 10) * DAY));
    const bodies = Array.from({ length: 205 }, (_, at) => ({
      ...{ received_at: at, source: 'webhook' as const, reason: 'r', body: `${at}` },
    }));
    await store.write(async (tx) => {
      await tx.insertInto('history').values(made).execute();
      await tx.insertInto('quarantine').values(bodies).execute();
    });
    await run(store);
    const history = await store.db.selectFrom('history').select('at').orderBy('id').execute();
    expect(history).toEqual(made.slice(600).map(({ at }) => ({ at })));
    const kept = await store.db.selectFrom('quarantine').select('body').orderBy('id').execute();
    expect(kept.map(({ body }) => body)).toEqual(bodies.slice(5).map(({ body }) => body));
  });

  it('repeats every task after its interval', async () => {
    const store = await newStore(engine);
    const tasks = [
      'activity',
      'answers',
      'audit',
      'checkpoint',
      'facts',
      'history',
      'marking',
      'monitoring',
      'notes',
      'old-activity',
      'overrides',
      'pending-writes',
      'quarantine',
      'receipts',
      'record-states',
      'records',
      'runs',
      'sessions',
      'size',
    ];
    expect(await run(store)).toEqual(tasks);
    const lanes = await store.db.selectFrom('lane').select(['key', 'due_at', 'fence']).orderBy('key').execute();
    expect(lanes).toEqual([
      { key: 'activity', due_at: NOW + 60_000, fence: null },
      { key: 'answers', due_at: NOW + 3_600_000, fence: null },
      { key: 'audit', due_at: NOW + 3_600_000, fence: null },
      { key: 'checkpoint', due_at: NOW + 60_000, fence: null },
      { key: 'facts', due_at: NOW + DAY, fence: null },
      { key: 'history', due_at: NOW + 3_600_000, fence: null },
      { key: 'marking', due_at: NOW + 3_600_000, fence: null },
      { key: 'monitoring', due_at: NOW + 3_600_000, fence: null },
      { key: 'notes', due_at: NOW + 3_600_000, fence: null },
      { key: 'old-activity', due_at: NOW + 3_600_000, fence: null },
      { key: 'overrides', due_at: NOW + 3_600_000, fence: null },
      { key: 'pending-writes', due_at: NOW + 30_000, fence: null },
      { key: 'quarantine', due_at: NOW + 3_600_000, fence: null },
      { key: 'receipts', due_at: NOW + 3_600_000, fence: null },
      { key: 'record-states', due_at: NOW + 600_000, fence: null },
      { key: 'records', due_at: NOW + DAY, fence: null },
      { key: 'runs', due_at: NOW + 3_600_000, fence: null },
      { key: 'sessions', due_at: NOW + 3_600_000, fence: null },
      { key: 'size', due_at: NOW + 3_600_000, fence: null },
    ]);
  });
});
