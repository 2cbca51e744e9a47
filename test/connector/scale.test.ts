/** At a million links: what a person asks reads what it shows, and no step of the daemon reads or writes them all at once. */
import { type KyselyPlugin, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  BEHIND_SAFETY_LIMIT,
  mayEnd,
  releaseSafetyLimit,
  SAFETY_LIMIT_KEY,
} from '../../src/connector/follow/safety-limit.ts';
import { countDifferences } from '../../src/connector/history/differences.ts';
import { continueMarking } from '../../src/connector/links/mark-all.ts';
import { markAllUnconfirmed, markUnconfirmed } from '../../src/connector/monitoring/monitoring.ts';
import { countReview, readReview } from '../../src/connector/review/review-list.ts';
import { acceptAtStart } from '../../src/connector/rules/accepted.ts';
import { claim, mark, park } from '../../src/runtime/lanes/lanes.ts';
import { each } from '../../src/store/each.ts';
import type { Store, Tx } from '../../src/store/store.ts';
import { ENGINES, newStore } from '../support/stores.ts';
import { linkOf, plansOf, wholeTables } from './query-plans.ts';

const never = new AbortController().signal;

describe.each(ENGINES)('at a million links, on %s', (engine) => {
  it('the safety limit counts only as many links as it needs', async () => {
    const store = await newStore(engine);
    const some = Array.from({ length: 400 }, (_, at) => linkOf(`${at}`));
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
    const unconfirmed = Array.from({ length: 2_100 }, (_, at) => linkOf(`${at}`, { observed: 'unknown' }));
    const others = [
      linkOf('confirmed'),
      linkOf('refused', { observed: 'refused', observed_error: 'no such company' }),
      linkOf('ended', { desired: 'off', observed: 'off', state: 'removed' }),
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

  it('a new mapping marks a thousand records in a transaction, and resumes after a crash', async () => {
    const store = await newStore(engine);
    const links = Array.from({ length: 2_500 }, (_, at) => linkOf(`${at}`));
    await store.write(async (tx) => {
      for (let at = 0; at < links.length; at += 500)
        await tx
          .insertInto('link')
          .values(links.slice(at, at + 500))
          .execute();
      await tx
        .insertInto('link')
        .values(linkOf('gone', { state: 'gone' }))
        .execute();
    });
    const crm = { name: 'hubspot', mapping: [], values: {}, hold: undefined, persons: false };
    await store.write((tx) => acceptAtStart(tx, [crm], { now: 1 }));
    const lanes = () => store.db.selectFrom('lane').select('key').where('queue', '=', 'sync:hubspot');
    const marks = async () => (await lanes().execute()).map(({ key }) => key);
    expect(await marks()).toHaveLength(1_000);
    const { signal, abort } = stoppedAfter(1);
    await continueMarking(store, abort, signal);
    expect(await marks()).toHaveLength(2_000);
    await continueMarking(store, () => 1, never);
    expect((await marks()).sort()).toEqual(links.map((one) => one.record_id).sort());
    await continueMarking(store, () => 1, never);
    const twice = await lanes().where('marks', '>', 1).execute();
    expect(twice).toEqual([]);
  });
});

describe.each(ENGINES)('with very many review entries, on %s', (engine) => {
  const MANY = 40;

  /** Of every kind that grows with the links forty things, and how many rows the questions brought. */
  async function crowded() {
    const store = await newStore(engine);
    const counted = { rows: 0 };
    const numbers = Array.from({ length: MANY }, (_, at) => at);
    const value = { provider: 'hubspot', property: 'name', refused: '"x"', refused_reason: 'too long' };
    await store.write(async (tx) => {
      const links = numbers.flatMap((at) => [
        linkOf(`v${at}`),
        linkOf(`c${at}`, { state: 'conflict' }),
        linkOf(`r${at}`, { observed: 'refused' }),
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

  it('review list reads only the refused values, lanes and links that it shows', async () => {
    const { db, counted } = await crowded();
    for (const kind of ['value', 'lane', 'link'] as const) {
      counted.rows = 0;
      const found = await readReview(db, 1, { kinds: [kind], limit: 5 });
      expect([kind, found.length, counted.rows]).toEqual([kind, 5, 5]);
    }
    counted.rows = 0;
    const all = await readReview(db, 1, { limit: MANY + 5 });
    expect(all.map(({ kind }) => kind)).toEqual([...Array(MANY).fill('lane'), ...Array(5).fill('link')]);
    expect(counted.rows).toBe(MANY + 5);
  });

  it('review counts all entries up to a limit without reading them', async () => {
    const { db, counted } = await crowded();
    expect(await countReview(db, 1)).toBe(4 * MANY);
    expect(counted.rows).toBeLessThan(10);
    expect(await countReview(db, 1, { kinds: ['value'] })).toBe(MANY);
    expect(await countReview(db, 1, { limit: 50 })).toBe(50);
  });

  it('the safety limit, once accepted, wakes at most a thousand records in a transaction, and resumes after a crash', async () => {
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

/** How many rows and index entries of a table a transaction reads on PostgreSQL. */
async function entriesRead(
  store: Store,
  table: 'lane' | 'link' | 'override',
  work: (tx: Tx) => Promise<unknown>,
): Promise<number> {
  const read = async () => {
    const { rows } = await sql<{
      read: number;
    }>`select (select cast(sum(idx_tup_read) as bigint) from pg_stat_user_indexes where relname = ${table})
      + (select seq_tup_read from pg_stat_user_tables where relname = ${table}) as read`.execute(store.db);
    return rows[0]?.read ?? 0;
  };
  const flush = sql`select pg_stat_force_next_flush()`;
  await store.write((tx) => flush.execute(tx));
  const before = await read();
  await store.write(async (tx) => {
    await work(tx);
    await flush.execute(tx);
  });
  return (await read()) - before;
}

describe('row by row, also where the statistics of PostgreSQL are old,', () => {
  it('lost calls are looked for', async () => {
    const store = await newStore('postgres');
    const fill = (from: number, queue: string, values: Parameters<typeof linkOf>[1]) =>
      store.write(async (tx) => {
        const ids = Array.from({ length: 2_000 }, (_, at) => `${from + at}`);
        await tx
          .insertInto('link')
          .values(ids.map((id) => linkOf(id, values)))
          .execute();
        const keys = ids.map((id) => `hubspot:${id}`);
        await mark(tx, queue, keys, 1);
      });
    await fill(0, 'edits:hubspot', { desired: 'on', observed: 'on' });
    await sql`analyze link, lane`.execute(store.db);
    await fill(2_000, 'monitoring', { desired: 'on', observed: 'unknown' });
    const read = await entriesRead(store, 'lane', async (tx) => expect(await markUnconfirmed(tx, 1)).toBe(0));
    expect(read).toBeLessThan(20_000);
  });

  it('refused values, matches and differences are counted', async () => {
    const store = await newStore('postgres');
    const [MANY, WAITING] = [4_000, 200];
    const ids = Array.from({ length: MANY }, (_, at) => `${at}`);
    const inParts = async (insert: (tx: Tx, part: readonly string[]) => Promise<unknown>) => {
      for (let at = 0; at < MANY; at += 1_000) await store.write((tx) => insert(tx, ids.slice(at, at + 1_000)));
    };
    const record = (id: string) => ({ provider: 'hubspot', record_id: id });
    await inParts((tx, part) =>
      tx
        .insertInto('link')
        .values(part.map((id) => linkOf(id)))
        .execute(),
    );
    const held = { property: 'fax', kind: 'hold' as const, once: 0, created_at: 1 };
    await inParts((tx, part) =>
      tx
        .insertInto('override')
        .values(part.map((id) => ({ ...record(id), ...held })))
        .execute(),
    );
    const values = { property: 'name', refused: '"x"', refused_reason: 'too long', kept: '"y"', kept_at: 1 };
    await inParts(async (tx, part) => {
      await tx
        .insertInto('property_state')
        .values(part.map((id) => ({ ...record(id), ...values })))
        .execute();
      const found = { position: 1, entity: 'CVR-1-1', confidence: 'likely', suggested_at: 1, body: '{}' };
      await tx
        .insertInto('match_result')
        .values(part.map((id) => ({ ...record(`new ${id}`), ...found })))
        .execute();
    });
    await sql`analyze`.execute(store.db);
    // The last in every order.
    const last = ids.toSorted().slice(-WAITING);
    const ended = { refused: null, kept: null, kept_at: null };
    await store.write((tx) =>
      tx.updateTable('property_state').set(ended).where('record_id', 'not in', each(tx, last)).execute(),
    );
    const decided = ids.toSorted().slice(0, -WAITING);
    await store.write((tx) =>
      tx
        .updateTable('match_result')
        .set({ entity: null })
        .where(
          'record_id',
          'in',
          each(
            tx,
            decided.map((id) => `new ${id}`),
          ),
        )
        .execute(),
    );
    const count = async (tx: Tx) => {
      for (const kind of ['value', 'match'] as const)
        expect(await countReview(tx, 1, { kinds: [kind], limit: 1_000 })).toBe(WAITING);
      expect(await countDifferences(tx, 1, {}, 1_000)).toBe(WAITING);
    };
    expect(await entriesRead(store, 'link', count)).toBeLessThan(1_000);
    expect(await entriesRead(store, 'override', count)).toBeLessThan(1_000);
  });
});
