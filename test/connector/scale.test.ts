/** At a million links: what a person asks reads what it shows, and no step of the daemon reads or writes them all at once. */
import Database from 'better-sqlite3';
import { type CompiledQuery, Kysely, type KyselyPlugin, SqliteDialect } from 'kysely';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { decideRows } from '../../src/connector/backfill/decide-rows.ts';
import type { ScanRow } from '../../src/connector/backfill/rows/rows.ts';
import { countDifferences, readDifferences } from '../../src/connector/decide/differences.ts';
import { countAttention, readAttention } from '../../src/connector/explain/attention.ts';
import { findCompanies } from '../../src/connector/explain/find-company.ts';
import { readTimeline } from '../../src/connector/explain/timeline.ts';
import { applyReceipts } from '../../src/connector/facts/apply.ts';
import {
  BEHIND_SAFETY_LIMIT,
  mayEnd,
  releaseSafetyLimit,
  SAFETY_LIMIT_KEY,
} from '../../src/connector/heal/safety-limit.ts';
import { endLink, listLinks, recordsOf } from '../../src/connector/links/links.ts';
import { continueMarking } from '../../src/connector/links/mark-all.ts';
import { markAllUnconfirmed, markUnconfirmed } from '../../src/connector/links/monitoring.ts';
import { markRemapped } from '../../src/connector/sync/remap.ts';
import { readAffected } from '../../src/connector/undo/writes.ts';
import { readConnections } from '../../src/dashboard/connections/read-connections.ts';
import { readDay } from '../../src/dashboard/overview/day.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { claim, mark, park } from '../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import { openStore } from '../../src/store/open.ts';
import type { StoreSchema } from '../../src/store/schema.ts';
import type { Db, Store } from '../../src/store/store.ts';
import { ENGINES, newStore, newStoreUrl } from '../support/stores.ts';

const never = new AbortController().signal;

const link = (recordId: string, over: object = {}) => ({
  ...{ provider: 'hubspot', record_id: recordId, entity: `CVR-1-${recordId}`, state: 'active' as const },
  ...{ desired: 'on' as const, observed: 'on' as const, created_at: 1, updated_at: 1 },
  ...{ send_update: 0, synced_seq: 0, origin: 'number' as const, trust: 'crm' as const, writes_number: 0 },
  ...over,
});

/** How SQLite finds the rows of each statement that `ask` makes. */
async function plansOf(ask: (db: Db) => Promise<unknown>): Promise<readonly string[]> {
  const url = await newStoreUrl('sqlite');
  const store = await openStore(url);
  await store.write((tx) => tx.insertInto('link').values(link('1')).execute());
  await store.close();
  const file = new Database(url);
  const asked: CompiledQuery[] = [];
  const db = new Kysely<StoreSchema>({
    dialect: new SqliteDialect({ database: file }),
    log: ({ query }) => void asked.push(query),
  });
  onTestFinished(() => db.destroy());
  await ask(db);
  return asked.flatMap(({ sql, parameters }) =>
    file
      .prepare<unknown[], { detail: string }>(`explain query plan ${sql}`)
      .all(...parameters)
      .map(({ detail }) => detail),
  );
}

/** Reads of a whole table: a partial index of exceptions is not one. */
const wholeTables = (plans: readonly string[]): readonly string[] =>
  plans.filter(
    (plan) =>
      /^SCAN (link|receipt|property_state|state|fact|known_value|history)\b/.test(plan) && !EXCEPTIONS.test(plan),
  );
const EXCEPTIONS =
  /USING (COVERING )?INDEX (link_refused|link_unconfirmed|property_state_refused|property_state_kept|receipt_aside)$/;
/** Active links are nearly all there are, and a connection has its share: to look for them by that is to read the table. */
const ALL_LINKS = /^SEARCH link USING (?!.*link_inactive).*\((state|provider)=\?\)$/;

describe('at a million links, no question of a person reads a whole table', () => {
  const questions: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
    'links --record': (db) => listLinks(db, { recordId: '1', limit: 10 }),
    'links --state': (db) => listLinks(db, { state: 'conflict', limit: 10 }),
    'links --entity': (db) => listLinks(db, { entity: 'CVR-1-1', limit: 10 }),
    explain: (db) => readTimeline(db, 'CVR-1-1', { now: 1, emailEvent: 'email', limit: 50 }),
    'review list': (db) => readAttention(db, 1, { limit: 100 }),
    'review, how much in all': (db) => countAttention(db, 1, { limit: 10_001 }),
    'review list --kind difference': (db) => readDifferences(db, { provider: 'hubspot' }, 100),
    'review, how many differences': (db) => countDifferences(db, {}, 10_001),
    'the day on the dashboard': (db) => readDay(db, 1),
  };
  it('undo reads the part of history that a window names, of one connection or of all', async () => {
    for (const provider of ['hubspot', undefined]) {
      const plans = await plansOf((db) => readAffected(db, { provider, since: 1 }));
      expect(plans).toContain('SEARCH history USING INTEGER PRIMARY KEY (rowid>?)');
      expect(plans.filter((plan) => /history_record/.test(plan))).toEqual([]);
    }
    const ofRecord = await plansOf((db) => readAffected(db, { provider: 'hubspot', record: '1', since: 1 }));
    expect(ofRecord).toContainEqual(expect.stringContaining('history_record (provider=? AND record_id=?'));
  });
  it('review list takes lanes and values as their indexes have them, and sorts none', async () => {
    const plans = await plansOf((db) => readAttention(db, 1, { limit: 100 }));
    expect(plans.filter((plan) => /TEMP B-TREE FOR ORDER BY/.test(plan))).toEqual([]);
    expect(plans).toContainEqual(expect.stringContaining('USING INDEX lane_parked'));
  });
  it('the newest decisions and the first names are read in the order of a key, and sorted for neither', async () => {
    const limits = { budgets: { default: { calls: 1, perMs: 1 } } } as never;
    const plans = await plansOf(async (db) => {
      await readConnections(db, [{ name: 'hubspot', limits }], 1);
      await findCompanies(db, [], { text: 'birk', limit: 50 });
    });
    expect(plans).toContainEqual(expect.stringMatching(/^SCAN history$/));
    expect(plans).toContainEqual(expect.stringMatching(/^SCAN fact USING INDEX fact_name$/));
    expect(plans.filter((plan) => /TEMP B-TREE/.test(plan))).toEqual([]);
  });
  it('refused links and differences are found by their own indexes, and not among all active links', async () => {
    const refused = await plansOf((db) => readAttention(db, 1, { kinds: ['link'], limit: 100 }));
    expect(refused).toContainEqual(expect.stringContaining('SCAN link USING INDEX link_refused'));
    const differences = await plansOf(async (db) => {
      await readDifferences(db, {}, 100);
      await countDifferences(db, {}, 100);
    });
    expect(differences.filter((plan) => /property_state_kept/.test(plan))).toHaveLength(2);
    expect(differences.filter((plan) => ALL_LINKS.test(plan))).toEqual([]);
  });
  test.each(Object.entries(questions))('%s', async (_, ask) => {
    const plans = await plansOf(ask);
    expect(plans).not.toEqual([]);
    expect(wholeTables(plans)).toEqual([]);
  });
});

describe('at a million links, a step of the daemon finds the links of its companies by these', () => {
  const writing = (db: Db): Store =>
    ({ db, engine: 'sqlite', write: (work) => db.transaction().execute(work) }) satisfies Partial<Store> as Store;
  const scanned = (at: number, entity: string): ScanRow => ({
    ...{ record_id: `${at}`, position: at, name: null, found: null, entity },
    ...{ verdict: 'matched', action: 'link', state: 'planned', detail: null },
  });
  const steps: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
    'events are applied, with parents': (db) =>
      applyReceipts(
        {
          ...{ store: writing(db), wakeUp: createWakeUp(), metrics: createMetrics(), now: () => 1 },
          ...{ mapped: new Map([['hubspot', new Set(['name' as const])]]), parents: new Set(['hubspot']) },
        },
        [{ queue: 'apply', key: 'CVR-1-1', fence: 1, marks: 1, attempts: 0, since: 1, unended: 0 }],
      ),
    'a link ends, and its rivals are looked for': (db) =>
      db
        .transaction()
        .execute((tx) => endLink(tx, { provider: 'hubspot', recordId: '1', state: 'gone', reason: 'deleted', now: 1 })),
    'the records of companies are listed': (db) => recordsOf(db, ['CVR-1-1', 'CVR-1-2']),
    'the companies of a scan are compared with the links': (db) =>
      decideRows(db, 'hubspot', [scanned(2, 'CVR-1-1'), scanned(3, 'CVR-1-2')]),
  };
  test.each(Object.entries(steps))('%s', async (_, step) => {
    const plans = (await plansOf(step)).filter((plan) => /^S\w+ link\b/.test(plan));
    expect(plans).toContainEqual(expect.stringMatching(/USING INDEX link_entity \(entity=\?/));
    expect(plans.filter((plan) => ALL_LINKS.test(plan) || /^SCAN/.test(plan))).toEqual([]);
  });
});

describe.each(ENGINES)('at a million links, on %s', (engine) => {
  it('the safety limit counts only as many links as decide it', async () => {
    const store = await newStore(engine);
    const some = Array.from({ length: 400 }, (_, at) => link(`${at}`));
    await store.write((tx) => tx.insertInto('link').values(some).execute());
    const end = (count: number) => store.write((tx) => mayEnd(tx, 'hubspot', count, 1_000));
    expect(await end(40)).toBe(true);
    await store.write((tx) =>
      tx
        .deleteFrom('link')
        .where(
          'record_id',
          'in',
          some.slice(0, 40).map((one) => one.record_id),
        )
        .execute(),
    );
    expect(await end(1)).toBe(false);
  });

  it('lost calls to the monitoring service are marked a thousand links in a transaction', async () => {
    const store = await newStore(engine);
    const unconfirmed = Array.from({ length: 2_100 }, (_, at) => link(`${at}`, { observed: 'unknown' }));
    const others = [
      link('confirmed'),
      link('refused', { observed: 'refused', observed_error: 'no such company' }),
      link('ended', { desired: 'off', observed: 'off', state: 'removed' }),
    ];
    await store.write(async (tx) => {
      for (let at = 0; at < unconfirmed.length; at += 700)
        await tx
          .insertInto('link')
          .values(unconfirmed.slice(at, at + 700))
          .execute();
      await tx.insertInto('link').values(others).execute();
    });
    expect(await store.write((tx) => markUnconfirmed(tx, 1))).toBe(1_000);
    await markAllUnconfirmed(store, () => 1, never);
    const lanes = await store.db.selectFrom('lane').select('key').where('queue', '=', 'monitoring').execute();
    expect(lanes.map(({ key }) => key).sort()).toEqual(unconfirmed.map((one) => `hubspot:${one.record_id}`).sort());
    expect(wholeTables(await plansOf((db) => db.transaction().execute((tx) => markUnconfirmed(tx, 1))))).toEqual([]);
  });

  it('a new mapping marks a thousand records in a transaction, and goes on after a crash where it was', async () => {
    const store = await newStore(engine);
    const links = Array.from({ length: 2_500 }, (_, at) => link(`${at}`));
    await store.write(async (tx) => {
      for (let at = 0; at < links.length; at += 500)
        await tx
          .insertInto('link')
          .values(links.slice(at, at + 500))
          .execute();
      await tx
        .insertInto('link')
        .values(link('gone', { state: 'gone' }))
        .execute();
    });
    const crm = { name: 'hubspot', mapping: [], values: {}, hold: undefined, persons: false };
    expect(await store.write((tx) => markRemapped(tx, [crm], 1))).toEqual(['sync:hubspot']);
    const marks = async () =>
      (await store.db.selectFrom('lane').select(['key', 'marks']).execute()).map(({ key }) => key);
    expect(await marks()).toHaveLength(1_000);
    const { signal, abort } = stoppedAfter(1);
    await continueMarking(store, abort, signal);
    expect(await marks()).toHaveLength(2_000);
    await continueMarking(store, () => 1, never);
    expect((await marks()).sort()).toEqual(links.map((one) => one.record_id).sort());
    await continueMarking(store, () => 1, never);
    const twice = await store.db.selectFrom('lane').select('key').where('marks', '>', 1).execute();
    expect(twice).toEqual([]);
  });
});

describe.each(ENGINES)('where very much needs a person, on %s', (engine) => {
  const MANY = 40;

  /** Of every kind that grows with the links forty things, and how many rows the questions brought. */
  async function crowded() {
    const store = await newStore(engine);
    const counted = { rows: 0 };
    const numbers = Array.from({ length: MANY }, (_, at) => at);
    const value = { provider: 'hubspot', property: 'name', refused: '"x"', refused_reason: 'too long' };
    await store.write(async (tx) => {
      const links = numbers.flatMap((at) => [
        link(`v${at}`),
        link(`c${at}`, { state: 'conflict' }),
        link(`r${at}`, { observed: 'refused' }),
      ]);
      await tx.insertInto('link').values(links).execute();
      const values = numbers.map((at) => ({ ...value, record_id: `v${at}` }));
      await tx.insertInto('property_state').values(values).execute();
      for (const at of numbers) await park(tx, 'sync:hubspot', `${at}`, { at, error: 'no answer' });
    });
    const reading: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: ({ result }) => {
        counted.rows += result.rows.length;
        return Promise.resolve(result);
      },
    };
    return { db: store.db.withPlugin(reading), counted };
  }

  it('review list reads no more set-aside values, lanes and links than it shows', async () => {
    const { db, counted } = await crowded();
    for (const kind of ['value', 'lane', 'link'] as const) {
      counted.rows = 0;
      const found = await readAttention(db, 1, { kinds: [kind], limit: 5 });
      expect([kind, found.length, counted.rows]).toEqual([kind, 5, 5]);
    }
    counted.rows = 0;
    const all = await readAttention(db, 1, { limit: MANY + 5 });
    expect(all.map(({ kind }) => kind)).toEqual([...Array(MANY).fill('lane'), ...Array(5).fill('link')]);
    expect(counted.rows).toBe(MANY + 5);
  });

  it('review tells how much there is in all without reading it, and counts no further than that tells', async () => {
    const { db, counted } = await crowded();
    expect(await countAttention(db, 1)).toBe(4 * MANY);
    expect(counted.rows).toBeLessThan(10);
    expect(await countAttention(db, 1, { kinds: ['value'] })).toBe(MANY);
    expect(await countAttention(db, 1, { limit: 50 })).toBe(50);
  });

  it('the safety limit, once accepted, wakes at most a thousand records in a transaction, and goes on after a crash', async () => {
    const store = await newStore(engine);
    const queue = 'heal:hubspot';
    const keys = Array.from({ length: 2_500 }, (_, at) => `${at}`);
    await store.write(async (tx) => {
      await mark(tx, queue, [...keys, 'other'], 1_000_000);
      await tx.updateTable('lane').set({ error: BEHIND_SAFETY_LIMIT }).where('key', '<>', 'other').execute();
      await mark(tx, queue, [SAFETY_LIMIT_KEY], 1);
    });
    const [safetyLimit] = await claim(store, queue, { limit: 10, now: 1, leaseMs: 1_000 });
    await store.write((tx) => releaseSafetyLimit(tx, 'hubspot', safetyLimit ?? expect.fail('no brake'), 2));
    const woken = async () =>
      (await store.db.selectFrom('lane').select('key').where('marks', '>', 1).execute()).map(({ key }) => key);
    expect(await woken()).toHaveLength(1_000);
    expect(await store.write((tx) => mayEnd(tx, 'hubspot', 2_500, 2))).toBe(true);
    const { signal, abort } = stoppedAfter(1);
    await continueMarking(store, abort, signal);
    expect(await woken()).toHaveLength(2_000);
    await continueMarking(store, () => 2, never);
    expect((await woken()).sort()).toEqual([...keys].sort());
    expect(await store.db.selectFrom('lane').select('key').where('marks', '>', 2).execute()).toEqual([]);
  });
});

/** A clock that stops the work when it was asked that often. */
function stoppedAfter(times: number): { readonly signal: AbortSignal; readonly abort: () => number } {
  const over = new AbortController();
  let asked = 0;
  return {
    signal: over.signal,
    abort() {
      asked += 1;
      if (asked >= times) over.abort();
      return 1;
    },
  };
}
