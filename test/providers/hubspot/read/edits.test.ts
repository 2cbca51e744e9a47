import { describe, expect, it } from 'vitest';
import type { PropertyEdit } from '../../../../providers/provider.ts';
import { type Bench, live, openBench } from '../setup.ts';

const START = Date.parse('2026-11-27T08:00:00.000Z');
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

describe('edits of companies', () => {
  it('returns the values since a time with the value at that time, and who wrote them', async () => {
    let at = START;
    const bench = await openBench({ now: () => at });
    const id = bench.emulator.add({ name: 'A', city: 'Aarhus', numberofemployees: 4 });
    const later = (ms: number) => {
      at += ms;
      return at;
    };
    later(MINUTE_MS);
    bench.emulator.edit(id, { city: 'Odense' }, 'Bo Lind');
    const since = later(MINUTE_MS);
    later(1);
    await bench.connection.update([{ id, properties: { city: 'Ribe', numberofemployees: 5 } }], live());
    later(1);
    bench.emulator.edit(id, { city: '' }, 'Carla Dam');
    const all = await edits(bench, [id], ['city', 'numberofemployees', 'zip'], since);
    expect(shown(all)).toEqual([
      ['numberofemployees', 4, 'Anna Holm', false],
      ['city', 'Odense', 'Bo Lind', false],
      ['city', 'Ribe', 'app 8111832', true],
      ['numberofemployees', 5, 'app 8111832', true],
      ['city', null, 'Carla Dam', false],
    ]);
    expect(all.map((edit) => edit.at - START)).toEqual([0, MINUTE_MS, 2 * MINUTE_MS + 1, 2 * MINUTE_MS + 1, 120_002]);
  });

  it('requests 50 companies a call, as HubSpot allows with history, and the app and the names once', async () => {
    const bench = await openBench();
    const ids = Array.from({ length: 100 }, (_, at) => bench.emulator.add({ name: `A ${at}` }));
    expect(await edits(bench, ids, ['name'], 0)).toHaveLength(100);
    expect(bench.calls()).toEqual([
      ...Array(2).fill('POST /crm/objects/2026-09/companies/batch/read'),
      'POST /oauth/v2/private-apps/get/access-token-info',
      'GET /crm/owners/2026-09',
    ]);
    await edits(bench, ids.slice(0, 50), ['name'], 0);
    expect(bench.calls()).toEqual(['POST /crm/objects/2026-09/companies/batch/read']);
  });

  it('names users by number without the right to owners, and claims no edit if the app is unknown', async () => {
    const bench = await openBench({ scopes: ['crm.objects.companies.read', 'crm.objects.companies.write'] });
    bench.emulator.fault({ match: 'access-token-info', action: { kind: 'status', status: 401, body: {} } });
    const id = bench.emulator.add({ name: 'A' });
    await bench.connection.update([{ id, properties: { name: 'B' } }], live());
    expect(shown(await edits(bench, [id], ['name'], 0))).toEqual([
      ['name', 'A', 'HubSpot user 51446676', false],
      ['name', 'B', 'app 8111832', false],
    ]);
  });

  it('omits companies that are gone, and invalid ids', async () => {
    const bench = await openBench();
    const [here, gone] = [bench.emulator.add({ name: 'A' }), bench.emulator.add({ name: 'B' })];
    bench.emulator.remove(gone);
    expect((await edits(bench, [gone, 'x', here], ['name'], 0)).map(({ id }) => id)).toEqual([here]);
  });

  it('throws instead of reporting no edits if HubSpot accepts no more calls', async () => {
    const bench = await openBench();
    const id = bench.emulator.add({ name: 'A' });
    for (const match of ['access-token-info', 'batch/read'])
      bench.emulator.fault({ match, action: { kind: 'status', status: 429, body: {} } });
    await expect(edits(bench, [id], ['name'], 0)).rejects.toMatchObject({ fault: 'rate' });
  });
});
