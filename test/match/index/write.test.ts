import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import { mergeBucket } from '../../../src/match/index/stage.ts';
import { clearIndex, entriesBefore, readEntries, storeEntries } from '../../../src/match/index/write.ts';
import { matchRecords } from '../../../src/match/match.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { entry, HAVNEGADE, RINGVEJ } from '../entries.ts';

const keysOf = async ({ db }: Store): Promise<readonly unknown[]> =>
  db.selectFrom('match_key').selectAll().orderBy('key').orderBy('entry').execute();
const put = (store: Store, entries: readonly IndexEntry[], historyOn?: string): Promise<void> =>
  store.write((tx) => storeEntries(tx, entries, historyOn === undefined ? {} : { historyOn }));
const first = async (store: Store, name: string, phone: string): Promise<string | undefined> =>
  (await matchRecords(store.db, [{ name, phone }]))[0]?.candidates[0]?.company;

describe.each(ENGINES)('the company index on %s', (engine) => {
  it('is the same if a company is stored once or twice', async () => {
    const store = await newStore(engine);
    const company = entry('10000001', 'Nordlys Møbler ApS', { address: RINGVEJ, phone: '86123456' });
    await put(store, [company]);
    const once = await keysOf(store);
    await put(store, [entry('10000001', 'Andet Navn A/S', { address: HAVNEGADE })]);
    expect(await keysOf(store)).not.toEqual(once);
    await put(store, [entry('10000001', 'Mellem', {}), company]);
    expect(await keysOf(store)).toEqual(once);
  });

  it('is read page by page for the companies that one took over', async () => {
    const store = await newStore(engine);
    await store.write((tx) =>
      sql`insert into match_entry (number, body)
        with recursive number (n) as (select 0 union all select n + 1 from number where n < 5100)
        select 10000000 + n, case n when 3 then '{"successor":"77"}' when 5099 then '{"successor":"77"}'
          else '{"successor":null}' end from number`.execute(tx),
    );
    expect(await entriesBefore(store.db, '77')).toEqual(['10000003', '10005099']);
  });

  it('keeps values that a register change replaces as former ones', async () => {
    const store = await newStore(engine);
    await put(store, [entry('10000001', 'Nordlys Møbler ApS', { address: RINGVEJ, phone: '86123456' })]);
    await put(store, [entry('10000001', 'Solvind ApS', { address: HAVNEGADE, phone: '86123456' })], '2026-03-01');
    const stored = (await readEntries(store.db, ['10000001'])).get('10000001');
    expect(stored?.formerNames).toEqual([{ value: 'Nordlys Møbler ApS', until: '2026-03-01' }]);
    expect(stored?.formerAddresses).toEqual([{ value: RINGVEJ, until: '2026-03-01' }]);
    expect(await first(store, 'Nordlys Møbler', '86123456')).toBe('10000001');
  });

  it('lets a production unit move to another company', async () => {
    const store = await newStore(engine);
    const shop = { phone: '86123456', address: RINGVEJ };
    const companies = ['10000001', '10000002'].map((number) => entry(number, `Ejer ${number} ApS`));
    await put(store, [...companies, entry('1000000011', 'Kaffe Nord', { company: '10000001', ...shop })]);
    expect(await first(store, 'Kaffe Nord', '86123456')).toBe('10000001');
    await put(store, [entry('1000000011', 'Kaffe Nord', { company: '10000002', ...shop })]);
    expect(await first(store, 'Kaffe Nord', '86123456')).toBe('10000002');
  });

  it('deletes entries with their keys, some at a time', async () => {
    const store = await newStore(engine);
    await put(
      store,
      [1, 2, 3].map((at) => entry(`1000000${at}`, `Nordlys ${at} ApS`)),
    );
    await store.write((tx) => storeEntries(tx, [entry('10000004', 'Havblik ApS')], { stagedAt: 1 }));
    const clear = () => store.write((tx) => clearIndex(tx, 1));
    let steps = 0;
    while (await clear()) steps += 1;
    expect(steps).toBeGreaterThan(3);
    expect((await readEntries(store.db, ['10000001', '10000002', '10000003', '10000004'])).size).toBe(0);
    expect(await store.db.selectFrom('match_key_staged').selectAll().execute()).toEqual([]);
    expect(await keysOf(store)).toEqual([]);
  });

  it('is the same for entries that were staged and merged as for direct writes', async () => {
    const steps = [
      [
        entry('10000001', 'Nordlys Møbler ApS', { address: RINGVEJ, phone: '86123456' }),
        entry('10000002', 'Kaffe Nord'),
      ],
      [
        entry('10000001', 'Andet Navn A/S', { address: HAVNEGADE }),
        entry('1000000011', 'Lager', { company: '10000001' }),
      ],
      [entry('1000000011', 'Lager', { company: '10000002' }), entry('10000001', 'Nordlys Møbler ApS')],
    ];
    const [direct, staged] = [await newStore(engine), await newStore(engine)];
    for (const [at, step] of steps.entries()) {
      await put(direct, step);
      // The first is there already: what is staged takes its place.
      await staged.write((tx) => storeEntries(tx, step, at === 0 ? {} : { stagedAt: at }));
    }
    expect(await keysOf(staged)).not.toEqual(await keysOf(direct));
    while (await staged.write(mergeBucket));
    expect(await keysOf(staged)).toEqual(await keysOf(direct));
    expect(await staged.db.selectFrom('match_key_staged').selectAll().execute()).toEqual([]);
  });

  it('finds a CVR number that begins with a zero', async () => {
    const store = await newStore(engine);
    await put(store, [entry('01000001', 'Nordlys Møbler ApS', { phone: '86123456' })]);
    expect(await first(store, 'Nordlys Møbler', '86123456')).toBe('01000001');
  });
});
