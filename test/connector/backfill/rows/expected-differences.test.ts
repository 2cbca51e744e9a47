/** What a plan shows of each property if the register's facts are known already. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder } from '../../../support/stores.ts';
import { type Fixture, startFixture } from '../fixture.ts';

const A = 'CVR-1-10150817';

const know = (fixture: Fixture, entity: string, facts: Readonly<Record<string, unknown>>): Promise<unknown> =>
  fixture.store.write((tx) =>
    tx
      .insertInto('fact')
      .values(
        Object.entries(facts).map(([field, value], at) => ({
          entity,
          field,
          value: JSON.stringify({ scalar: value }),
          clock: '2026-03-01T12:00:00.000Z',
          seq: at + 1,
        })),
      )
      .execute(),
  );

/** The cells of a plan by record and column. */
const planned = async (fixture: Fixture, trust: 'crm' | 'register') => {
  const file = join(newFolder(), 'plan.csv');
  await fixture.run({ mode: { kind: 'plan', file }, trust });
  const [header = [], ...lines] = readFileSync(file, 'utf8')
    .trim()
    .split('\r\n')
    .map((line) => line.replace('\uFEFF', '').split(';'));
  return new Map(lines.map((cells) => [cells[0], Object.fromEntries(header.map((name, at) => [name, cells[at]]))]));
};

it('expected differences show old → new from the CRM, only for companies with facts', async () => {
  const fixture = await startFixture();
  const [reported, untold, same] = [
    fixture.add('10150817', { name: 'Gammelt ApS' }),
    fixture.add('12345674', { name: 'Gammelt ApS' }),
    fixture.add('20000007', { name: 'Nyt ApS' }),
  ];
  await know(fixture, A, { name: 'Nyt ApS', city: 'Ribe' });
  await know(fixture, 'CVR-1-20000007', { name: 'Nyt ApS' });
  const reads = (): number => fixture.emulator.calls.filter(({ path }) => path.includes('batch/read')).length;
  const rows = await planned(fixture, 'crm');
  expect(rows.get(reported)).toMatchObject({
    'name: old → new': 'Gammelt ApS stays (register: Nyt ApS)',
    'city: old → new': '(blank) → Ribe',
  });
  expect(rows.get(same)).toMatchObject({ 'name: old → new': '', 'city: old → new': '' });
  expect(rows.get(untold)).toMatchObject({ 'name: old → new': '' });
  expect(reads()).toBe(1);
  const trusting = await planned(fixture, 'register');
  expect(trusting.get(reported)).toMatchObject({ 'name: old → new': 'Gammelt ApS → Nyt ApS' });
});

it('expected differences have no columns and make no reads without facts', async () => {
  const fixture = await startFixture();
  const id = fixture.add('10150817');
  expect(Object.keys((await planned(fixture, 'crm')).get(id) ?? {})).toEqual([
    'record',
    'name',
    'number',
    'verdict',
    'action',
    'note',
    'scanned',
  ]);
  expect(fixture.emulator.calls.some(({ path }) => path.includes('batch/read'))).toBe(false);
});
