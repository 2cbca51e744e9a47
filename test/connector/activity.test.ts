/** What is counted for the charts, against the rows that it is counted from. */
import { describe, expect, test } from 'vitest';
import { countDecisions, countRecordStates } from '../../src/connector/activity.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { setOverride } from '../../src/connector/overrides/override.ts';
import { pruneActivity, readActivity, startOf } from '../../src/runtime/activity/activity.ts';
import type { Store } from '../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../support/stores.ts';

const HOUR_MS = 3_600_000;
/** A summer day of Copenhagen begins two hours before the one of UTC. */
const DAY = Date.UTC(2026, 5, 10, 22);
const NEVER = new AbortController().signal;

const properties = (count: number): string =>
  JSON.stringify(Array.from({ length: count }, () => ['name', 'name', 'a', 'b', null]));

const decided = (store: Store, at: number, outcome: string, count: number) =>
  store.write((tx) =>
    tx
      .insertInto('history')
      .values({
        ...{ at, provider: 'crm', record_id: '1', entity: 'CVR-1-96437889', seq: 1, rule: 'register', outcome },
        ...{ lines: properties(count), detail: null },
      })
      .execute(),
  );

const hoursOf = async (store: Store) =>
  (await readActivity(store.db, 'hour', ['written', 'kept'], 0)).map(({ at, kind, count }) => [at, kind, count]);

describe.each(SUITE_ENGINES)('the activity on %s', (engine) => {
  test('counts each property once, by the hour and by the Danish day, however often it counts', async () => {
    const store = await newStore(engine);
    await decided(store, DAY - 1, 'written', 3);
    await decided(store, DAY, 'written', 2);
    await decided(store, DAY + 1, 'kept', 1);
    await decided(store, DAY + 2, 'skipped', 9);
    const counted = { store, now: () => DAY + HOUR_MS };
    await countDecisions(counted, NEVER);
    await countDecisions(counted, NEVER);
    await decided(store, DAY + 3, 'written', 4);
    await countDecisions(counted, NEVER);

    expect(await hoursOf(store)).toEqual([
      [DAY - HOUR_MS, 'written', 3],
      [DAY, 'kept', 1],
      [DAY, 'written', 6],
    ]);
    const days = await readActivity(store.db, 'day', ['written'], 0);
    expect(days.map(({ at, count }) => [at, count])).toEqual([
      [DAY - 24 * HOUR_MS, 3],
      [DAY, 6],
    ]);
  });

  test('leaves rows for the next count while an earlier transaction may still commit', async () => {
    const store = await newStore(engine);
    await decided(store, DAY, 'written', 1);
    await decided(store, DAY + 100_000, 'written', 1);
    await countDecisions({ store, now: () => DAY + 110_000 }, NEVER);
    expect(await hoursOf(store)).toEqual([[DAY, 'written', 1]]);
    await countDecisions({ store, now: () => DAY + 200_000 }, NEVER);
    expect(await hoursOf(store)).toEqual([[DAY, 'written', 2]]);
  });

  test('is not stopped by a row that is dated ahead', async () => {
    const store = await newStore(engine);
    await decided(store, DAY + 50 * HOUR_MS, 'written', 1);
    await decided(store, DAY, 'kept', 1);
    await countDecisions({ store, now: () => DAY + HOUR_MS }, NEVER);
    expect((await hoursOf(store)).map(([, kind]) => kind).toSorted()).toEqual(['kept', 'written']);
  });

  test('counts a linked record only in its worst state', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      for (const recordId of ['1', '2', '3', '4', '5']) {
        const entity = `CVR-1-1000000${recordId}`;
        await linkRecord(tx, { provider: 'crm', recordId, entity, sendUpdate: false, now: DAY });
      }
      const state = { provider: 'crm', property: 'name', kept: '"a"', offered: '"b"' } as const;
      await tx
        .insertInto('property_state')
        .values([
          { ...state, record_id: '2' },
          { ...state, record_id: '3' },
        ])
        .execute();
      await setOverride(
        tx,
        { provider: 'crm', recordId: '3', property: 'name' },
        {
          ...{ kind: 'hold', once: false, until: null, reason: null },
        },
        DAY,
      );
      await tx
        .updateTable('lane')
        .set({ error: 'refused' })
        .where('queue', '=', 'sync:crm')
        .where('key', '=', '4')
        .execute();
      await tx.updateTable('link').set({ state: 'gone' }).where('record_id', '=', '5').execute();
    });
    await countRecordStates({ store, now: () => DAY }, NEVER);
    const states = await readActivity(store.db, 'hour', ['linked', 'failing', 'left', 'differing'], 0);
    expect(Object.fromEntries(states.map(({ kind, count }) => [kind, count]))).toEqual({
      linked: 4,
      failing: 1,
      left: 1,
      differing: 1,
    });
  });

  test('keeps hours for 90 days, and days for two years', async () => {
    const store = await newStore(engine);
    await decided(store, DAY, 'written', 1);
    await countDecisions({ store, now: () => DAY + HOUR_MS }, NEVER);
    await store.write((tx) => pruneActivity(tx, DAY + 91 * 24 * HOUR_MS));
    expect(await hoursOf(store)).toEqual([]);
    expect(await readActivity(store.db, 'day', ['written'], 0)).toHaveLength(1);
    await store.write((tx) => pruneActivity(tx, DAY + 740 * 24 * HOUR_MS));
    expect(await readActivity(store.db, 'day', ['written'], 0)).toEqual([]);
  });
});

test('a day begins at midnight in Copenhagen, also when its clocks change', () => {
  const spring = Date.UTC(2026, 2, 29, 12);
  expect(startOf('day', spring)).toBe(Date.UTC(2026, 2, 28, 23));
  expect(startOf('day', spring + 24 * HOUR_MS)).toBe(Date.UTC(2026, 2, 29, 22));
});
