import { describe, expect, it } from 'vitest';
import { connectTo, live, openBench } from '../setup.ts';

describe('reading companies', () => {
  it('needs one call for a hundred', async () => {
    const { emulator, connection, calls } = await openBench();
    const ids = Array.from({ length: 100 }, (_, i) => emulator.add({ name: `Nr ${i}` }));
    const reads = await connection.read(ids, ['name'], live());
    expect(reads.map((read) => (read.kind === 'found' ? read.properties.name : read.kind))).toEqual(
      ids.map((_, i) => `Nr ${i}`),
    );
    expect(calls()).toEqual(['POST /crm/objects/2026-09/companies/batch/read']);
  });

  it.each([
    ['named with 207', { batchStatus: 207, readMisses: 'named' }],
    ['named with 200', { batchStatus: 200, readMisses: 'named' }],
    ['simply absent', { readMisses: 'absent' }],
  ] as const)('requests each miss by itself, when misses are %s', async (_label, options) => {
    const { emulator, connection, calls } = await openBench(options);
    const add = (name: string) => emulator.add({ name });
    const [a, b, c, d] = [add('A'), add('B'), add('C'), add('D')];
    const survivor = emulator.merge(b, c);
    emulator.remove(d);
    expect(await connection.read([d, c, b, a], ['name'], live())).toEqual([
      { kind: 'gone', id: d },
      { kind: 'moved', id: c, to: survivor },
      { kind: 'moved', id: b, to: survivor },
      { kind: 'found', id: a, properties: { name: 'A' } },
    ]);
    expect(calls().map((call) => call.split('/').at(-1))).toEqual(['read', d, c, b]);
  });

  it('follows a chain of merges to the living end', async () => {
    const { emulator, connection } = await openBench();
    const add = (name: string) => emulator.add({ name });
    const [a, b, c] = [add('A'), add('B'), add('C')];
    const last = emulator.merge(c, emulator.merge(a, b));
    expect(await connection.read([a, c], ['name'], live())).toMatchObject([{ to: last }, { to: last }]);
    emulator.remove(last);
    expect(await connection.read([a], ['name'], live())).toEqual([{ kind: 'gone', id: a }]);
  });

  it('reports moved without a further call if the batch itself answers with the survivor', async () => {
    const { emulator, connection, calls } = await openBench({ mergedInBatch: 'survivor' });
    const [a, b] = [emulator.add({ name: 'A' }), emulator.add({ name: 'B' })];
    const survivor = emulator.merge(a, b);
    expect(await connection.read([b, survivor, a], ['name'], live())).toEqual([
      { kind: 'moved', id: b, to: survivor },
      { kind: 'found', id: survivor, properties: { name: 'A' } },
      { kind: 'moved', id: a, to: survivor },
    ]);
    expect(calls()).toHaveLength(1);
  });

  it('keeps what it has read if a limit applies between the batch and the misses', async () => {
    const { emulator, connection } = await openBench();
    const [a, b] = [emulator.add({ name: 'A' }), emulator.add({ name: 'B' })];
    emulator.remove(b);
    emulator.fault({
      match: 'GET .*/companies/\\d+',
      action: { kind: 'status', status: 429, body: { policyName: 'SECONDLY' } },
    });
    expect(await connection.read([b, a], ['name'], live())).toMatchObject([
      { kind: 'retry', id: b, reason: expect.stringContaining('SECONDLY') },
      { kind: 'found', id: a },
    ]);
  });

  it.each(['', '..', '12/../34', 'batch', 'abc', '1?archived=true'])(
    'sends no id %j that would reach another address',
    async (id) => {
      const { connection, calls } = await openBench();
      expect(await connection.read([id], ['name'], live())).toEqual([{ kind: 'gone', id }]);
      expect(await connection.update([{ id, properties: { name: 'x' } }], live())).toEqual([{ kind: 'gone', id }]);
      expect(calls()).toEqual([]);
    },
  );

  it('returns values by the types of the account, which it reads by itself', async () => {
    const { emulator, http } = await openBench({ properties: [{ name: 'founded_year', type: 'number' }] });
    const fresh = await connectTo(emulator.settings, http.http);
    const id = emulator.add({
      founded_year: 1998,
      cvr_hold: true,
      cvr_start_date: '1998-03-01',
      zip: '0999',
    });
    const names = ['founded_year', 'cvr_hold', 'cvr_start_date', 'zip', 'city', 'no_such_property'];
    expect(await fresh.read([id], names, live())).toEqual([
      {
        kind: 'found',
        id,
        properties: {
          founded_year: 1998,
          cvr_hold: true,
          cvr_start_date: '1998-03-01',
          zip: '0999',
          city: null,
          no_such_property: null,
        },
      },
    ]);
  });

  it('scans past deleted records, archived ones never shown, and resumes from a stored cursor', async () => {
    const { emulator, connection, calls } = await openBench();
    const ids = Array.from({ length: 150 }, (_, i) => emulator.add({ name: `Nr ${i}` }));
    for (const id of ids.slice(20, 40)) emulator.remove(id);
    const first = await connection.scan(['name'], undefined, live());
    emulator.remove(first.records[0]?.id ?? '');
    const second = await connection.scan(['name'], first.cursor, live());
    expect([...first.records, ...second.records].map((record) => record.id)).toEqual(
      ids.filter((_, i) => i < 20 || i >= 40),
    );
    expect(second.cursor).toBeUndefined();
    expect(calls()).toEqual(Array(2).fill('GET /crm/objects/2026-09/companies'));
  });
});
