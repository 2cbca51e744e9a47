import { describe, expect, it } from 'vitest';
import type { Search } from '../../../../providers/provider.ts';
import { call } from '../raw.ts';
import { type Bench, faultFrom, live, openBench } from '../setup.ts';

async function find({ connection }: Bench, property: string, value: string): Promise<Search> {
  if (connection.find === undefined) throw new Error('the connection does not find');
  return connection.find(property, value, live());
}

describe('finding companies by a value', () => {
  it.each([{ readMisses: 'named' }, { readMisses: 'absent' }, { readMisses: 'named', batchStatus: 200 }] as const)(
    'is sure for a unique property, a moment after the write too (%j)',
    async (options) => {
      const bench = await openBench({ ...options, searchLagMs: 60_000 });
      const id = bench.emulator.add({ name: 'A ApS', cvr_number: '12345678' });
      expect(await find(bench, 'cvr_number', '12345678')).toEqual({
        records: [{ id, properties: { cvr_number: '12345678', name: 'A ApS' } }],
        sure: true,
      });
      expect(await find(bench, 'cvr_number', '87654321')).toEqual({ records: [], sure: true });
      bench.emulator.remove(id);
      expect(await find(bench, 'cvr_number', '12345678')).toEqual({ records: [], sure: true });
      expect(bench.calls().every((call) => call.endsWith('/batch/read'))).toBe(true);
    },
  );

  it('is not sure for any other property, and returns ten at most', async () => {
    const bench = await openBench({ properties: [{ name: 'cvr' }] });
    const ids = Array.from({ length: 12 }, () => bench.emulator.add({ name: 'Same ApS', cvr: '12345678' }));
    for (const [property, value] of [
      ['cvr', '12345678'],
      ['name', 'same aps'],
    ] as const) {
      const { records, sure } = await find(bench, property, value);
      expect([records.length, sure]).toEqual([10, false]);
      expect(records.every(({ id, properties }) => ids.includes(id) && properties.name === 'Same ApS')).toBe(true);
    }
    expect(await find(bench, 'cvr', '87654321')).toEqual({ records: [], sure: false });
  });

  const error = { status: 'error', category: 'VALIDATION_ERROR', message: 'non-unique property', context: {} };
  it.each<[number, object]>([
    [400, error],
    [207, { status: 'COMPLETE', results: [], numErrors: 1, errors: [error], startedAt: '', completedAt: '' }],
  ])('falls back to search if HubSpot refuses to read the records, with %d', async (status, body) => {
    const bench = await openBench();
    const id = bench.emulator.add({ name: 'A', cvr_number: '12345678' });
    bench.emulator.fault({ match: 'batch/read', action: { kind: 'status', status, body } });
    expect(await find(bench, 'cvr_number', '12345678')).toMatchObject({ records: [{ id }], sure: false });
  });

  it('finds by a property that was made a moment ago', async () => {
    const bench = await openBench({ missingProperties: ['cvr_number'] });
    await call(bench.emulator, '/crm/properties/2026-09/companies', {
      name: 'cvr_number',
      label: 'CVR number',
      type: 'string',
      fieldType: 'text',
      groupName: 'companyinformation',
      hasUniqueValue: true,
    });
    const id = bench.emulator.add({ name: 'A', cvr_number: '12345678' });
    expect(await find(bench, 'cvr_number', '12345678')).toMatchObject({ records: [{ id }], sure: true });
  });

  it('refuses a property the account does not have, by name', async () => {
    const fault = await faultFrom(find(await openBench(), 'no_such', 'x'));
    expect([fault.fault, fault.message]).toEqual(['refused', expect.stringContaining('no_such')]);
  });

  it.each([
    [429, 'rate'],
    [503, 'unavailable'],
    [401, 'auth'],
    [403, 'refused'],
  ] as const)('ends with a fault at %d', async (status, fault) => {
    const bench = await openBench();
    for (const [match, property] of [
      ['batch/read', 'cvr_number'],
      ['/search', 'name'],
    ] as const) {
      bench.emulator.fault({ match, action: { kind: 'status', status } });
      expect((await faultFrom(find(bench, property, 'x'))).fault).toBe(fault);
    }
  });
});
