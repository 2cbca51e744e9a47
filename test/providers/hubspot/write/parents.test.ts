import { describe, expect, it } from 'vitest';
import type { Outcome, ParentRead } from '../../../../providers/provider.ts';
import { type Bench, faultFrom, live, openBench } from '../setup.ts';

const CHILD_TO_PARENT = 14;
const PARTNER = 71;

async function read({ connection }: Bench, ids: readonly string[]): Promise<readonly ParentRead[]> {
  if (connection.parents === undefined) throw new Error('the connection has no parents');
  return connection.parents.read(ids, live());
}
async function write({ connection }: Bench, id: string, parent: string | null, was: string | null): Promise<Outcome> {
  if (connection.parents === undefined) throw new Error('the connection has no parents');
  return connection.parents.write({ id, parent, was }, live());
}

const add = ({ emulator }: Bench, count: number): string[] =>
  Array.from({ length: count }, (_, i) => emulator.add({ name: `Nr ${i}` }));

describe('parents', () => {
  it.each(['2026-09', 'v3'])('are set, changed and ended, in version %s', async (apiVersion) => {
    const bench = await openBench({}, { apiVersion });
    const [child = '', first = '', second = ''] = add(bench, 3);
    expect(await write(bench, child, first, null)).toEqual({ kind: 'written', id: child });
    expect(bench.emulator.parent(child)).toBe(first);
    expect(await read(bench, [child])).toEqual([{ kind: 'found', id: child, parent: first }]);
    expect(await write(bench, child, second, first)).toEqual({ kind: 'written', id: child });
    expect(await read(bench, [child, first, second])).toEqual([
      { kind: 'found', id: child, parent: second },
      { kind: 'found', id: first, parent: null },
      { kind: 'found', id: second, parent: null },
    ]);
    expect(await write(bench, child, null, second)).toEqual({ kind: 'written', id: child });
    expect(bench.emulator.parent(child)).toBeNull();
    expect(await read(bench, [child])).toEqual([{ kind: 'found', id: child, parent: null }]);
  });

  it('are read a hundred at a time in two calls, in the requested order, with the gone and the merged', async () => {
    const bench = await openBench({ batchStatus: 200 });
    const ids = add(bench, 100);
    const [top = '', , , gone = '', one = '', two = ''] = ids;
    for (const id of ids.slice(10)) bench.emulator.associate(id, top, [CHILD_TO_PARENT]);
    const expected = ids.map((id, i) => ({ kind: 'found', id, parent: i < 10 ? null : top }));
    expect(await read(bench, ids)).toEqual(expected);
    expect(bench.calls().map((call) => call.replace(/.*companies\//, ''))).toEqual(['batch/read', 'batch/read']);
    bench.emulator.remove(gone);
    const survivor = bench.emulator.merge(one, two);
    expect(await read(bench, [two, gone, ids[20] ?? '', 'x'])).toEqual([
      { kind: 'moved', id: two, to: survivor },
      { kind: 'gone', id: gone },
      { kind: 'found', id: ids[20], parent: top },
      { kind: 'gone', id: 'x' },
    ]);
    expect(await read(bench, [])).toEqual([]);
  });

  it('are read from HubSpot’s own copy if it returns nothing of the associations', async () => {
    const bench = await openBench();
    const [child = '', parent = ''] = add(bench, 2);
    bench.emulator.associate(child, parent, [CHILD_TO_PARENT]);
    bench.emulator.fault({
      match: 'POST .*/associations/.*/batch/read',
      action: {
        kind: 'status',
        status: 200,
        body: { status: 'COMPLETE', results: [], startedAt: '', completedAt: '' },
      },
    });
    expect(await read(bench, [child, parent])).toMatchObject([{ parent }, { parent: null }]);
  });

  it('exclude companies that are only linked, and children', async () => {
    const bench = await openBench({ labels: { [PARTNER]: 'Partner' } });
    const [a = '', b = '', c = ''] = add(bench, 3);
    bench.emulator.associate(a, b, []);
    bench.emulator.associate(a, c, [PARTNER]);
    bench.emulator.associate(c, a, [CHILD_TO_PARENT, PARTNER]);
    expect(await read(bench, [a, b, c])).toMatchObject([{ parent: null }, { parent: null }, { parent: a }]);
  });

  it('keep the other labels between the two companies', async () => {
    const bench = await openBench({ labels: { [PARTNER]: 'Partner' } });
    const [child = '', parent = ''] = add(bench, 2);
    bench.emulator.associate(child, parent, [PARTNER]);
    await write(bench, child, parent, null);
    expect(new Set(bench.emulator.labels(child, parent))).toEqual(new Set([450, PARTNER, CHILD_TO_PARENT]));
    await write(bench, child, null, parent);
    expect(new Set(bench.emulator.labels(child, parent))).toEqual(new Set([450, PARTNER]));
  });

  it('cost no call if they are so already', async () => {
    const bench = await openBench();
    const [child = '', parent = ''] = add(bench, 2);
    expect(await write(bench, child, null, null)).toEqual({ kind: 'written', id: child });
    expect(await write(bench, child, parent, parent)).toEqual({ kind: 'written', id: child });
    expect(bench.calls()).toEqual([]);
  });

  it('may be written again if an answer was lost', async () => {
    const bench = await openBench();
    const [child = '', first = '', second = ''] = add(bench, 3);
    bench.emulator.fault({ match: 'PUT ', action: { kind: 'reset', applied: true } });
    expect((await faultFrom(write(bench, child, first, null))).fault).toBe('unavailable');
    expect(await write(bench, child, first, null)).toEqual({ kind: 'written', id: child });
    bench.emulator.fault({ match: 'labels/archive', action: { kind: 'cut', applied: true } });
    expect((await faultFrom(write(bench, child, second, first))).fault).toBe('unavailable');
    expect(await write(bench, child, second, null)).toEqual({ kind: 'written', id: child });
    expect(bench.emulator.parent(child)).toBe(second);
  });

  it('are refused with a reason if the parent is gone, or would be its own ancestor', async () => {
    const bench = await openBench();
    const [a = '', b = '', gone = ''] = add(bench, 3);
    bench.emulator.remove(gone);
    expect(await write(bench, a, gone, null)).toMatchObject({ kind: 'rejected', id: a, properties: {} });
    await write(bench, b, a, null);
    expect(await write(bench, a, b, null)).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('ancestor'),
    });
    expect(await write(bench, a, 'x', null)).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('x') });
  });

  it('report if the child itself is gone or merged', async () => {
    const bench = await openBench();
    const [parent = '', gone = '', one = '', two = ''] = add(bench, 4);
    bench.emulator.remove(gone);
    const survivor = bench.emulator.merge(one, two);
    expect(await write(bench, gone, parent, null)).toEqual({ kind: 'gone', id: gone });
    expect(await write(bench, two, parent, null)).toEqual({ kind: 'moved', id: two, to: survivor });
    expect(await write(bench, '1/2', parent, null)).toEqual({ kind: 'gone', id: '1/2' });
  });

  it('that HubSpot did not end are not reported as ended, whatever the status', async () => {
    const bench = await openBench();
    const [child = '', parent = ''] = add(bench, 2);
    const errors = [{ status: 'error', category: 'VALIDATION_ERROR', message: 'not this one', context: {} }];
    const body = { status: 'COMPLETE', results: [], numErrors: 1, errors };
    for (const status of [200, 207]) {
      bench.emulator.fault({ match: 'labels/archive', action: { kind: 'status', status, body } });
      expect(await write(bench, child, null, parent)).toMatchObject({ kind: 'rejected', reason: 'not this one' });
    }
  });

  it.each([
    [429, 'rate'],
    [503, 'unavailable'],
    [401, 'auth'],
    [403, 'refused'],
  ] as const)('end with a fault at %d', async (status, fault) => {
    const bench = await openBench();
    const [child = '', parent = ''] = add(bench, 2);
    bench.emulator.fault({ match: '/associations/', times: 2, action: { kind: 'status', status } });
    expect((await faultFrom(write(bench, child, parent, null))).fault).toBe(fault);
    expect((await faultFrom(read(bench, [child]))).fault).toBe(fault);
  });
});
