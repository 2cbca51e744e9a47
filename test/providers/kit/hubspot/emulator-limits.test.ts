import { describe, expect, it } from 'vitest';
import { call } from '../../hubspot/raw.ts';
import { openBench } from '../../hubspot/setup.ts';

const START = Date.parse('2026-06-10T12:00:00Z');

describe('the limits of an emulated account', () => {
  it('refuse the call that is one too many in any ten seconds, and count none that was refused', async () => {
    let now = START;
    const { emulator } = await openBench({ rate: { calls: 3, perMs: 10_000 }, now: () => now });
    now += 10_000;
    const at = async (ms: number) => {
      now = START + 10_000 + ms;
      const { status, headers } = await call(emulator, '');
      return [status, headers.get('x-hubspot-ratelimit-remaining')];
    };
    expect([await at(0), await at(4_000), await at(9_000), await at(9_999)]).toEqual([
      [200, '2'],
      [200, '1'],
      [200, '0'],
      [429, '0'],
    ]);
    expect([await at(10_000), await at(10_001), await at(13_999), await at(14_000)]).toEqual([
      [200, '0'],
      [429, '0'],
      [429, '0'],
      [200, '0'],
    ]);
  });

  it('name their policy in HubSpot’s body', async () => {
    const { emulator } = await openBench({ rate: { calls: 2, perMs: 10_000 }, now: () => START });
    await call(emulator, '');
    const { body, headers } = await call(emulator, '');
    expect(body).toMatchObject({
      status: 'error',
      errorType: 'RATE_LIMIT',
      policyName: 'TEN_SECONDLY_ROLLING',
      message: expect.any(String),
    });
    expect([headers.get('x-hubspot-ratelimit-max'), headers.get('x-hubspot-ratelimit-interval-milliseconds')]).toEqual([
      '2',
      '10000',
    ]);
    expect(headers.get('retry-after')).toBeNull();
  });

  it('of search are separate: five a second, without headers', async () => {
    let now = START;
    const { emulator } = await openBench({ rate: { calls: 2, perMs: 10_000 }, now: () => now });
    for (let i = 0; i < 5; i += 1) expect((await call(emulator, 'search', {})).status).toBe(200);
    const { status, body, headers } = await call(emulator, 'search', {});
    expect([status, body.policyName, headers.get('x-hubspot-ratelimit-remaining')]).toEqual([429, 'SECONDLY', null]);
    now += 1_000;
    expect((await call(emulator, 'search', {})).status).toBe(200);
    expect((await call(emulator, '')).status).toBe(200);
  });

  it('of the day end at the account’s midnight', async () => {
    let now = Date.parse('2026-06-10T21:59:00Z');
    const { emulator } = await openBench({ daily: 2, timeZone: 'Europe/Copenhagen', now: () => now });
    expect((await call(emulator, '')).headers.get('x-hubspot-ratelimit-daily-remaining')).toBe('0');
    expect((await call(emulator, '')).body).toMatchObject({ policyName: 'DAILY' });
    now += 60_000;
    expect((await call(emulator, '')).headers.get('x-hubspot-ratelimit-daily-remaining')).toBe('1');
  });
});

describe('search in an emulated account', () => {
  const named = (name: string) => ({
    filterGroups: [{ filters: [{ propertyName: 'name', operator: 'EQ', value: name }] }],
  });

  it('lags behind writes', async () => {
    let now = START;
    const { emulator, connection } = await openBench({ searchLagMs: 5_000, now: () => now });
    const id = emulator.add({ name: 'A' });
    expect((await call(emulator, 'search', named('a'))).body.total).toBe(0);
    now += 5_000;
    await connection.update([{ id, properties: { name: 'B' } }], new AbortController().signal);
    const totals = async () => [
      (await call(emulator, 'search', named('a'))).body.total,
      (await call(emulator, 'search', named('b'))).body.total,
    ];
    expect(await totals()).toEqual([1, 0]);
    now += 5_000;
    expect(await totals()).toEqual([0, 1]);
  });

  it('compares IN with lower-case values only, and knows who has a property', async () => {
    const { emulator } = await openBench();
    emulator.add({ name: 'Birk', cvr_number: '10000009' });
    emulator.add({ name: 'Ege' });
    const total = async (filter: object) =>
      (await call(emulator, 'search', { filterGroups: [{ filters: [filter] }], limit: 200 })).body.total;
    expect(await total({ propertyName: 'name', operator: 'IN', values: ['Birk'] })).toBe(0);
    expect(await total({ propertyName: 'name', operator: 'IN', values: ['birk', 'ege'] })).toBe(2);
    expect(await total({ propertyName: 'cvr_number', operator: 'HAS_PROPERTY' })).toBe(1);
  });

  it('continues by record id after 10,000 results', async () => {
    const { emulator } = await openBench();
    const ids = Array.from({ length: 10_050 }, (_, i) => emulator.add({ name: `${i}` }));
    const last = { limit: 200, after: '9800', sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }] };
    const { body } = await call(emulator, 'search', last);
    expect([body.total, body.paging]).toEqual([10_050, undefined]);
    expect((await call(emulator, 'search', { ...last, after: '9801' })).status).toBe(400);
    const rest = {
      ...last,
      after: undefined,
      filterGroups: [{ filters: [{ propertyName: 'hs_object_id', operator: 'GT', value: ids[9_999] }] }],
    };
    expect((await call(emulator, 'search', rest)).body.total).toBe(50);
  });

  it.each<[string, unknown]>([
    ['a body over 3,000 characters', { query: 'x'.repeat(3_000) }],
    ['more than five groups', { filterGroups: Array(6).fill({ filters: [] }) }],
    ['an unknown property', { filterGroups: [{ filters: [{ propertyName: 'nope', operator: 'EQ', value: '1' }] }] }],
    ['more than 200 a page', { limit: 201 }],
  ])('refuses %s', async (_label, body) => {
    const { emulator } = await openBench();
    expect((await call(emulator, 'search', body)).status).toBe(400);
  });
});
