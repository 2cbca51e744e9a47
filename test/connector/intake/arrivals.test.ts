/** Arrivals become receipts: each event once, in order, and none is lost if the store refuses one. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Arrival, insertArrivals, readArrivals } from '../../../src/connector/intake/arrivals.ts';
import { statesWholeCompany } from '../../../src/protocol/full-state.ts';
import { readPayload, writePayload } from '../../../src/protocol/payload.ts';
import { fullStatePayload, sampleCompany } from '../../../src/protocol/sample/company.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import type { Store } from '../../../src/store/store.ts';
import { phoneEvent } from '../../support/receiver.ts';
import { ENGINES, newStore, newStoreUrl, opened } from '../../support/stores.ts';

const WIRE = { emailEvent: 'email' };
const entity = (at: number): string => `CVR-1-9900000${at}`;
const arrival = (body: object): Arrival => ({ body: JSON.stringify(body), webhookId: undefined, isSigned: false });
const arrive = (store: Store, bodies: readonly object[], now = 1_000) =>
  store.write((tx) => insertArrivals(tx, bodies.map(arrival), now));
const read = (store: Store, now = 2_000) => store.write((tx) => readArrivals(tx, WIRE, now));
const waiting = async (store: Store): Promise<number> =>
  (await store.db.selectFrom('arrival').select('seq').execute()).length;

/** The phone numbers of the receipts, in their order. */
const numbers = async (store: Store): Promise<(string | undefined)[]> =>
  (await store.db.selectFrom('receipt').select('body').orderBy('seq').execute()).map(
    ({ body }) => /"after":"2000(\d+)"/u.exec(body ?? '')?.[1],
  );

describe.each(ENGINES)('arrivals on %s', (engine) => {
  it('become receipts in order with their time of arrival, and their companies are marked', async () => {
    const store = await newStore(engine);
    await arrive(store, [phoneEvent(1, entity(1)), phoneEvent(2, ' cvr-1-99000002')]);
    await arrive(store, [phoneEvent(3, entity(1))], 1_500);
    expect(await read(store)).toEqual({ repeated: 0, reused: [], refused: [], isMore: false });
    const receipts = await store.db
      .selectFrom('receipt')
      .select(['entity', 'timestamp', 'received_at', 'applied_at'])
      .orderBy('seq')
      .execute();
    const common = { timestamp: '2026-08-14T09:30:00.000Z', applied_at: null };
    expect(receipts).toEqual([
      { ...common, entity: entity(1), received_at: 1_000 },
      { ...common, entity: entity(2), received_at: 1_000 },
      { ...common, entity: entity(1), received_at: 1_500 },
    ]);
    const lanes = await store.db.selectFrom('lane').select(['queue', 'key']).orderBy('key').execute();
    expect(lanes).toEqual([1, 2].map((at) => ({ queue: 'apply', key: entity(at) })));
    expect(await waiting(store)).toBe(0);
  });

  it('with the same content become one receipt, in one batch or two, in any spelling', async () => {
    const store = await newStore(engine);
    const { updates, ...head } = phoneEvent(1);
    await arrive(store, [phoneEvent(1), phoneEvent(2), { updates, ...head }]);
    expect(await read(store)).toMatchObject({ repeated: 1 });
    await arrive(store, [phoneEvent(3), { updates: { ...updates, capital: { updated: false } }, ...head }]);
    expect(await read(store)).toMatchObject({ repeated: 1 });
    expect(await numbers(store)).toEqual(['0001', '0002', '0003']);
  });

  it('are stored without beneficial owners if those are not read', async () => {
    const store = await newStore(engine);
    const { updates, ...head } = phoneEvent(1);
    const owner = { entityId: 'CVR-3-4000700001', name: 'Ejer Efternavn', type: 'Person', ownership: '50' };
    const owners = { updated: true, added: [owner], removed: [], changed: [] };
    await arrive(store, [{ ...head, updates: { ...updates, TrueOwnership: owners, trueVoteRights: owners } }]);
    await store.write((tx) => readArrivals(tx, { ...WIRE, beneficialOwners: false }, 2_000));
    const [receipt] = await store.db.selectFrom('receipt').select('body').execute();
    expect(receipt?.body).not.toContain('Efternavn');
    expect(await numbers(store)).toEqual(['0001']);
    expect(await waiting(store)).toBe(0);
  });

  it('state the whole company even without beneficial owners', async () => {
    const store = await newStore(engine);
    await arrive(store, [writePayload(fullStatePayload(sampleCompany(7), '2026-08-14T09:30:00.000Z'))]);
    await store.write((tx) => readArrivals(tx, { ...WIRE, beneficialOwners: false }, 2_000));
    const [receipt] = await store.db.selectFrom('receipt').select('body').execute();
    const read = readPayload(JSON.parse(receipt?.body ?? ''), { beneficialOwners: false });
    expect(read.ok && statesWholeCompany(read.payload)).toBe(true);
  });

  it('are read in batches, which report that more may wait', async () => {
    const store = await newStore(engine);
    for (let from = 0; from < 320; from += 64)
      await arrive(
        store,
        Array.from({ length: 64 }, (_, at) => phoneEvent(from + at)),
      );
    expect([(await read(store)).isMore, await waiting(store)]).toEqual([true, 64]);
    expect([(await read(store)).isMore, await waiting(store)]).toEqual([false, 0]);
    expect(await numbers(store)).toEqual(Array.from({ length: 320 }, (_, at) => String(at).padStart(4, '0')));
  });

  it('that the store refuses wait without blocking others, and are stored once it accepts them', async () => {
    const store = await newStore(engine);
    const refuse = sql.lit(entity(7));
    await store.write(async (tx) => {
      if (engine === 'sqlite')
        await sql`create trigger refuse before insert on receipt when new.entity = ${refuse}
          begin select raise(abort, 'not this one'); end`.execute(tx);
      else {
        await sql`create function refuse() returns trigger language plpgsql as
          $$ begin raise exception 'not this one'; end $$`.execute(tx);
        await sql`create trigger refuse before insert on receipt for each row when (new.entity = ${refuse})
          execute function refuse()`.execute(tx);
      }
    });
    await arrive(store, [phoneEvent(1), phoneEvent(2, entity(7)), phoneEvent(3), phoneEvent(3)]);
    const { repeated, refused } = await read(store);
    expect([repeated, refused]).toEqual([1, [{ seq: expect.any(Number), error: expect.any(Error) }]]);
    expect([await numbers(store), await waiting(store)]).toEqual([['0001', '0003'], 1]);

    await store.write((tx) =>
      (engine === 'sqlite' ? sql`drop trigger refuse` : sql`drop trigger refuse on receipt`).execute(tx),
    );
    await read(store);
    expect([await numbers(store), await waiting(store)]).toEqual([['0001', '0003', '0002'], 0]);
  });

  it('are claimed in the transaction that reads them', async () => {
    const store = await newStore(engine);
    await arrive(store, [phoneEvent(1, entity(1)), phoneEvent(2, entity(2))]);
    const committed: string[] = [];
    const claims = await claim(store, 'apply', {
      limit: 10,
      now: 2_000,
      leaseMs: 1_000,
      prepare: async (tx, now) => {
        await readArrivals(tx, WIRE, now);
        return () => committed.push('reported');
      },
    });
    expect([claims.map(({ key }) => key), committed]).toEqual([[entity(1), entity(2)], ['reported']]);
  });
});

it('two daemons create one receipt of each arrival, and keep the order of a company', async () => {
  const url = await newStoreUrl('postgres');
  const [one, other] = [await opened(url), await opened(url)];
  for (let round = 0; round < 5; round++) {
    await arrive(
      one,
      Array.from({ length: 60 }, (_, at) => phoneEvent(round * 60 + at)),
    );
    await Promise.all([read(one), read(other), read(one), read(other)]);
  }
  expect(await numbers(one)).toEqual(Array.from({ length: 300 }, (_, at) => String(at).padStart(4, '0')));
  expect(await waiting(one)).toBe(0);
});
