/** Decisions as history keeps them: those that belong together in one row. */
import { describe, expect, it } from 'vitest';
import { countDecisions } from '../../../src/connector/activity.ts';
import { readTimeline } from '../../../src/connector/explain/timeline.ts';
import { type Decided, heldRecords, writeHistory } from '../../../src/connector/history/history.ts';
import { listWrites } from '../../../src/connector/undo/list-writes.ts';
import { readAffected } from '../../../src/connector/undo/writes.ts';
import { readActivity } from '../../../src/runtime/activity/activity.ts';
import type { Store } from '../../../src/store/store.ts';
import { historyLines } from '../../support/history.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const ENTITY = 'CVR-1-12345674';
const PROPERTIES = ['name', 'city', 'phone'] as const;

const decision = (id: string, property: string, planned: Partial<Decided['planned']> = {}): Decided => ({
  ...{ provider: 'crm', id, entity: ENTITY },
  planned: { field: 'name', property, action: 'write', rule: 'blank', old: null, now: 'x', seq: 1, ...planned },
});

const rowCount = async ({ db }: Store): Promise<number> =>
  (await db.selectFrom('history').select('id').execute()).length;

describe.each(SUITE_ENGINES)('history on %s', (engine) => {
  it('has a row for each event, record, rule and outcome, with a line for each property', async () => {
    const store = await newStore(engine);
    const odd = decision('1', 'odd', { old: 'a\0b', now: 0.5 });
    const others = [
      decision('1', 'email', { rule: 'ours' }),
      decision('1', 'web', { seq: 2 }),
      { ...decision('1', 'fax'), refused: 'too long' },
      decision('2', 'name'),
    ];
    const hold = { provider: 'crm', id: '3', entity: ENTITY, rule: 'hold', detail: 'by sales' } as const;
    const together = PROPERTIES.map((property) => decision('1', property));
    await store.write((tx) => writeHistory(tx, [...together, ...others, odd], [hold], 5));
    expect(await rowCount(store)).toBe(6);
    const lines = await historyLines(store.db);
    expect(lines.map(({ property, record_id: id, detail }) => [id, property, detail])).toEqual([
      ['3', null, 'by sales'],
      ...PROPERTIES.map((property) => ['1', property, null]),
      ['1', 'odd', null],
      ['1', 'email', null],
      ['1', 'web', null],
      ['1', 'fax', 'too long'],
      ['2', 'name', null],
    ]);
    expect(lines.find(({ property }) => property === 'odd')).toMatchObject({ old: 'a\ufffdb', now: 0.5 });
    expect(await heldRecords(store.db, 'crm', ['1', '2', '3'])).toEqual(new Set(['3']));
  });

  it('lists each write once page by page, complete or of one property', async () => {
    const store = await newStore(engine);
    for (let round = 0; round < 7; round += 1)
      await store.write((tx) =>
        writeHistory(
          tx,
          PROPERTIES.map((property) => decision(String(round), property, { seq: round })),
          [],
          round,
        ),
      );
    const listed = async (property?: string): Promise<readonly string[]> => {
      const seen: string[] = [];
      for (let before: number | undefined; ; ) {
        const { writes, older } = await listWrites(store.db, { property, before }, 4);
        seen.push(...writes.map((line) => `${line.record_id} ${line.property}`));
        if (older === undefined) return seen;
        before = older;
      }
    };
    const rounds = [6, 5, 4, 3, 2, 1, 0];
    expect(await listed()).toEqual(rounds.flatMap((round) => PROPERTIES.map((property) => `${round} ${property}`)));
    expect(await listed('city')).toEqual(rounds.map((round) => `${round} city`));
    expect(await listed('none')).toEqual([]);
    // As many as a page holds, and no empty page behind them.
    const whole = { property: 'city', before: undefined };
    expect((await listWrites(store.db, whole, 7)).older).toBeUndefined();
    expect((await listWrites(store.db, { ...whole, property: undefined }, 21)).older).toBeUndefined();
  });

  it('finds the records of one property, without those where only the time of a change was written', async () => {
    const store = await newStore(engine);
    const time = decision('time', 'changed', { field: 'registerChangedAt' });
    const both = [decision('both', 'name'), decision('both', 'changed', { field: 'registerChangedAt' })];
    await store.write((tx) => writeHistory(tx, [time, ...both, decision('city', 'city')], [], 5));
    const affected = async (property?: string): Promise<readonly string[]> =>
      (await readAffected(store.db, { entity: ENTITY, property })).map(({ recordId }) => recordId);
    expect(await affected()).toEqual(['both', 'city']);
    expect(await affected('changed')).toEqual(['both', 'time']);
    expect(await affected('city')).toEqual(['city']);
  });

  it('counts by property, and limits the lines of a timeline', async () => {
    const store = await newStore(engine);
    const kept = PROPERTIES.map((property) => decision('1', property, { action: 'keep', rule: 'edited' }));
    await store.write((tx) => writeHistory(tx, [...kept, decision('2', 'name')], [], 5));
    await countDecisions({ store, now: () => 100_000 }, new AbortController().signal);
    const counted = await readActivity(store.db, 'hour', ['written', 'kept'], 0);
    expect(counted.map(({ kind, count }) => [kind, count])).toEqual([
      ['kept', 3],
      ['written', 1],
    ]);
    const options = { now: 6, limit: 3, crms: [], until: undefined };
    const timeline = await readTimeline(store.db, ENTITY, options);
    expect(timeline?.history.map(({ record, property }) => `${record} ${property}`)).toEqual([
      '1 city',
      '1 phone',
      '2 name',
    ]);
  });
});
