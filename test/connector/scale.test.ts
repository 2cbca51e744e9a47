/** At a million links: what a person asks reads what it shows, and no step of the daemon reads or writes them all at once. */
import Database from 'better-sqlite3';
import { type CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { readAttention } from '../../src/connector/attention.ts';
import { mayEnd } from '../../src/connector/heal/brake.ts';
import { listLinks } from '../../src/connector/links.ts';
import { continueMarking } from '../../src/connector/mark-all.ts';
import { remarkAll, remarkMonitoring } from '../../src/connector/monitoring.ts';
import { markRemapped } from '../../src/connector/remap.ts';
import { readStory } from '../../src/connector/story.ts';
import { openStore } from '../../src/store/open.ts';
import type { Schema } from '../../src/store/schema.ts';
import type { Db } from '../../src/store/store.ts';
import { ENGINES, newStore, newStoreUrl } from '../support/stores.ts';

const never = new AbortController().signal;

const link = (recordId: string, over: object = {}) => ({
  ...{ provider: 'hubspot', record_id: recordId, entity: `CVR-1-${recordId}`, state: 'active' as const },
  ...{ wish: 'on' as const, monitored: 'on' as const, created_at: 1, updated_at: 1 },
  ...{ send_update: 0, synced_seq: 0, origin: 'number' as const, trust: 'crm' as const },
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
  const db = new Kysely<Schema>({
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
const EXCEPTIONS = /USING (COVERING )?INDEX (link_refused|link_unconfirmed|property_state_refused|receipt_aside)$/;

describe('at a million links, no question of a person reads a whole table', () => {
  const questions: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
    'links --record': (db) => listLinks(db, { recordId: '1', limit: 10 }),
    'links --state': (db) => listLinks(db, { state: 'conflict', limit: 10 }),
    'links --entity': (db) => listLinks(db, { entity: 'CVR-1-1', limit: 10 }),
    explain: (db) => readStory(db, 'CVR-1-1', { now: 1, emailEvent: 'email', limit: 50 }),
    'review list': (db) => readAttention(db, 1),
  };
  test.each(Object.entries(questions))('%s', async (_, ask) => {
    const plans = await plansOf(ask);
    expect(plans).not.toEqual([]);
    expect(wholeTables(plans)).toEqual([]);
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
    const unconfirmed = Array.from({ length: 2_100 }, (_, at) => link(`${at}`, { monitored: 'unknown' }));
    const others = [
      link('confirmed'),
      link('refused', { monitored: 'refused', monitored_error: 'no such company' }),
      link('ended', { wish: 'off', monitored: 'off', state: 'removed' }),
    ];
    await store.write(async (tx) => {
      for (let at = 0; at < unconfirmed.length; at += 700)
        await tx
          .insertInto('link')
          .values(unconfirmed.slice(at, at + 700))
          .execute();
      await tx.insertInto('link').values(others).execute();
    });
    expect(await store.write((tx) => remarkMonitoring(tx, 1))).toBe(1_000);
    await remarkAll(store, () => 1, never);
    const lanes = await store.db.selectFrom('lane').select('key').where('queue', '=', 'monitoring').execute();
    expect(lanes.map(({ key }) => key).sort()).toEqual(unconfirmed.map((one) => `hubspot:${one.record_id}`).sort());
    expect(wholeTables(await plansOf((db) => db.transaction().execute((tx) => remarkMonitoring(tx, 1))))).toEqual([]);
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
