import { describe, expect, it } from 'vitest';
import type { Created, PropertyValue } from '../../../../providers/provider.ts';
import { type Bench, faultFrom, live, openBench } from '../setup.ts';

async function create({ connection }: Bench, properties: Record<string, PropertyValue>): Promise<Created> {
  if (connection.create === undefined) throw new Error('the connection does not create');
  return connection.create(properties, live());
}

const companies = ({ emulator }: Bench, id: string) => emulator.get(id);

describe('creating a company', () => {
  it('writes every kind of value, and leaves blanks out', async () => {
    const bench = await openBench();
    const outcome = await create(bench, {
      name: 'Ærø Bageri ApS',
      cvr_number: '01234567',
      numberofemployees: 12,
      cvr_hold: true,
      cvr_start_date: '1998-03-01',
      city: null,
    });
    if (outcome.kind !== 'created') throw new Error(JSON.stringify(outcome));
    expect(companies(bench, outcome.id)).toMatchObject({
      name: 'Ærø Bageri ApS',
      cvr_number: '01234567',
      numberofemployees: 12,
      cvr_hold: true,
      cvr_start_date: '1998-03-01',
      city: null,
    });
    expect(bench.calls()).toEqual(['POST /crm/objects/2026-09/companies']);
  });

  it('names the company that already has the number', async () => {
    const bench = await openBench();
    const id = bench.emulator.add({ name: 'A', cvr_number: '12345678' });
    expect(await create(bench, { name: 'B', cvr_number: '12345678' })).toEqual({
      kind: 'duplicate',
      id,
      reason: expect.stringContaining('cvr_number'),
    });
  });

  it.each([
    ['Company already exists. Existing ID: 77', '77'],
    ['Cannot set propertyName=cvr_number on 5. 88 already has that value.', '88'],
    ['There is a conflict', undefined],
  ])('reads a 409 that says %j', async (message, id) => {
    const bench = await openBench();
    const body = { status: 'error', category: 'CONFLICT', message };
    bench.emulator.fault({ match: 'POST .*/companies$', action: { kind: 'status', status: 409, body } });
    const outcome = await create(bench, { name: 'B', cvr_number: '12345678' });
    expect(outcome).toEqual({ kind: 'duplicate', reason: message, ...(id === undefined ? {} : { id }) });
  });

  it('names the properties that HubSpot refuses', async () => {
    const bench = await openBench();
    expect(await create(bench, { name: 'B', industry: 'BEEKEEPING', no_such: 'x' })).toEqual({
      kind: 'rejected',
      reason: expect.stringContaining('no_such'),
      properties: {
        industry: expect.stringContaining('BEEKEEPING'),
        no_such: expect.stringContaining('does not exist'),
      },
    });
    expect(await create(bench, { cvr_number: '12345678' })).toMatchObject({ kind: 'rejected', properties: {} });
  });

  it('throws if the answer was lost, and the company can be found by its number', async () => {
    const bench = await openBench();
    for (const [kind, cvr] of [
      ['reset', '11111111'],
      ['cut', '22222222'],
    ] as const) {
      bench.emulator.fault({ match: 'POST .*/companies$', action: { kind, applied: true } });
      expect((await faultFrom(create(bench, { name: 'B', cvr_number: cvr }))).fault).toBe('unavailable');
      expect(await bench.connection.find?.('cvr_number', cvr, live())).toMatchObject({ records: [{}], sure: true });
    }
  });

  it.each<[unknown, string]>([
    [{}, 'without an id'],
    [{ id: 'x/../y' }, 'with an id that is none'],
    ['<html>', 'with HTML'],
  ])('throws if the answer is a 201 %s', async (body) => {
    const bench = await openBench();
    bench.emulator.fault({ match: 'POST .*/companies$', action: { kind: 'status', status: 201, body } });
    expect((await faultFrom(create(bench, { name: 'B' }))).fault).toBe('unavailable');
  });

  it.each([
    [429, 'rate'],
    [500, 'unavailable'],
    [423, 'locked'],
    [477, 'locked'],
    [403, 'refused'],
    [404, 'refused'],
  ] as const)('ends with a fault at %d, and creates nothing', async (status, fault) => {
    const bench = await openBench();
    bench.emulator.fault({ match: 'POST .*/companies$', action: { kind: 'status', status } });
    expect((await faultFrom(create(bench, { name: 'B', cvr_number: '12345678' }))).fault).toBe(fault);
    expect(await bench.connection.find?.('cvr_number', '12345678', live())).toEqual({ records: [], sure: true });
  });
});
