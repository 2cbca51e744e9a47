import { describe, expect, it } from 'vitest';
import type { PropertyEdit } from '../../../../providers/provider.ts';
import { type Bench, live, openBench, paths } from '../setup.ts';

const MINUTE_MS = 60_000;

async function edits(
  { connection }: Bench,
  ids: readonly string[],
  names: readonly string[],
  since: number,
): Promise<readonly PropertyEdit[]> {
  if (connection.edits === undefined) throw new Error('the connection does not tell edits');
  return connection.edits(ids, names, since, live());
}

const shown = (all: readonly PropertyEdit[]) => all.map(({ property, value, by, own }) => [property, value, by, own]);

describe('edits of accounts', () => {
  it('returns values and authors of tracked fields, and others who changed the account last', async () => {
    const bench = await openBench({ trackedFields: ['BillingCity', 'NumberOfEmployees'] });
    const { emulator, clock, connection } = bench;
    const id = emulator.add({ Name: 'A', BillingCity: 'Aarhus' });
    clock.now += MINUTE_MS;
    emulator.edit(id, { BillingCity: 'Odense' }, 'Bo Lind');
    clock.now += MINUTE_MS;
    const since = clock.now;
    await connection.update([{ id, properties: { BillingCity: 'Ribe', NumberOfEmployees: 5 } }], live());
    clock.now += 2_000;
    emulator.edit(id, { BillingCity: null, Phone: '70101010' }, 'Carla Dam');
    expect(shown(await edits(bench, [id], ['BillingCity', 'NumberOfEmployees', 'Phone'], since))).toEqual([
      ['BillingCity', 'Ribe', 'Integration User', true],
      ['NumberOfEmployees', 5, 'Integration User', true],
      ['BillingCity', null, 'Carla Dam', false],
      ['Phone', undefined, 'Carla Dam', false],
    ]);
  });

  it('returns nothing for accounts without a change since, invalid ids, and accounts that are gone', async () => {
    const bench = await openBench();
    const [old, gone] = [bench.emulator.add({ Name: 'A' }), bench.emulator.add({ Name: 'B' })];
    bench.clock.now += MINUTE_MS;
    bench.emulator.remove(gone);
    expect(await edits(bench, [old, gone, 'x'], ['Name'], bench.clock.now)).toEqual([]);
    expect(shown(await edits(bench, [old], ['Name'], 0))).toEqual([['Name', undefined, 'Anna Holm', false]]);
  });

  it('makes two calls for 60 accounts', async () => {
    const bench = await openBench({ trackedFields: ['Name'] });
    const ids = Array.from({ length: 61 }, (_, at) => bench.emulator.add({ Name: `A ${at}` }));
    await bench.connection.properties(live());
    const before = bench.requests.length;
    expect(await edits(bench, ids, ['Name'], 0)).toHaveLength(61);
    expect(paths(bench.requests.slice(before))).toEqual(Array(4).fill('GET /services/data/v67.0/query'));
  });

  it('returns who changed the account last if the user may not see the field history', async () => {
    const bench = await openBench({ trackedFields: ['Name'] });
    const id = bench.emulator.add({ Name: 'A' });
    await bench.connection.update([{ id, properties: { Name: 'B' } }], live());
    const body = [{ message: "sObject type 'AccountHistory' is not supported.", errorCode: 'INVALID_TYPE' }];
    bench.emulator.fault({ match: 'GET .*/query', action: { kind: 'status', status: 400, body } });
    expect(shown(await edits(bench, [id], ['Name'], 0))).toEqual([['Name', undefined, 'Integration User', true]]);
  });

  it('pages on if there are more changes than a query returns', async () => {
    const bench = await openBench({ trackedFields: ['Name'], pageSize: 3 });
    const id = bench.emulator.add({ Name: 'A' });
    for (let at = 0; at < 8; at += 1) bench.emulator.edit(id, { Name: `B ${at}` });
    expect((await edits(bench, [id], ['Name'], 0)).map(({ value }) => value)).toEqual(
      Array.from({ length: 8 }, (_, at) => `B ${at}`),
    );
  });
});
