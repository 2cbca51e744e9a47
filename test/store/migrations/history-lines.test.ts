/** A store that kept a row of history for each property. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { writeHistory } from '../../../src/connector/history/history.ts';
import { readWrites } from '../../../src/connector/undo/writes.ts';
import { addHistoryLines } from '../../../src/store/migrations/history-lines.ts';
import { migrateStore } from '../../../src/store/migrations/migrations.ts';
import { historyLines } from '../../support/history.ts';
import { ENGINES, storeBefore } from '../../support/stores.ts';

const ENTITY = 'CVR-1-12345674';
const MANY = 6_000;

test.each(ENGINES)('tells the same after the migration, and goes on behind it (%s)', async (engine) => {
  const store = await storeBefore(engine, addHistoryLines);
  const row = (at: number, values: string, id = 'one') => `(${at}, 'crm', '${id}', '${ENTITY}', ${values})`;
  const rows = [
    row(5, `'name', 'name', 7, 'blank', null, '"A ''ApS"', 'written', null`),
    row(5, `'city', 'city', 7, 'blank', '"By"', 'null', 'written', null`),
    row(5, `'email', 'email', 7, 'blank', 'null', '"no \\u0000"', 'refused', 'too long'`),
    row(5, `null, null, 0, 'hold', null, null, 'hold', 'held by sales'`),
    row(5, `null, null, 0, 'hold', null, null, 'hold', 'held by sales'`),
    row(6, `'name', 'name', 8, 'ours', '"A"', 'B is no JSON', 'written', 'odd'`),
  ];
  // More than one step of the migration, by each of which nothing may be lost.
  for (let n = 0; n < MANY; n += 1)
    rows.push(row(n + 10, `'name', 'name', 9, 'ours', '"${n}"', '"${n + 1}"', 'written', null`, 'two'));
  const columns = sql`at, provider, record_id, entity, field, property, seq, rule, old_value, new_value, outcome, detail`;
  await store.write(async (tx) => {
    for (let from = 0; from < rows.length; from += 500)
      await sql`insert into history (${columns}) values ${sql.raw(rows.slice(from, from + 500).join(', '))}`.execute(
        tx,
      );
  });
  await migrateStore(store);
  const lines = await historyLines(store.db);
  const told = lines.map(({ at, property, field, seq, rule, old, now, outcome, detail }) => [
    ...[at, property, field, seq, rule, old, now, outcome, detail],
  ]);
  expect(told.slice(0, 6)).toEqual([
    [5, 'name', 'name', 7, 'blank', null, "A 'ApS", 'written', null],
    [5, 'city', 'city', 7, 'blank', 'By', null, 'written', null],
    [5, 'email', 'email', 7, 'blank', null, expect.stringMatching(/^no /u), 'refused', 'too long'],
    [5, null, null, 0, 'hold', null, null, 'hold', 'held by sales'],
    [5, null, null, 0, 'hold', null, null, 'hold', 'held by sales'],
    [6, 'name', 'name', 8, 'ours', 'A', 'B is no JSON', 'written', 'odd'],
  ]);
  expect(told.slice(6).map(([, , , , , , now]) => now)).toEqual(Array.from({ length: MANY }, (_, n) => String(n + 1)));
  await store.write((tx) =>
    writeHistory(
      tx,
      [
        {
          provider: 'crm',
          id: 'two',
          entity: ENTITY,
          planned: { field: 'name', property: 'name', action: 'write', rule: 'ours', old: 'x', now: 'y', seq: 10 },
        },
      ],
      [],
      MANY + 10,
    ),
  );
  expect((await historyLines(store.db)).at(-1)).toMatchObject({ now: 'y', seq: 10 });
  const [name] = await readWrites(store.db, { provider: 'crm', recordId: 'two' }, { event: 9 });
  expect([name?.writes.length, name?.writes.filter(({ selected }) => selected).length]).toEqual([MANY + 1, MANY]);
});
