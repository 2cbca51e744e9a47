import { describe, expect, it } from 'vitest';
import { call, resultIds, traced } from '../../hubspot/raw.ts';
import { openBench } from '../../hubspot/setup.ts';

describe('an emulated batch is strict', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'more than 100 inputs',
      traced(
        Array.from({ length: 101 }, (_, i) => String(i)),
        { name: 'x' },
      ),
      /maximum number of inputs/,
    ],
    ['an id twice', traced(['1', '1'], { name: 'x' }), /Duplicate IDs/],
    [
      'idProperty hs_object_id',
      { inputs: [{ id: '1', idProperty: 'hs_object_id', properties: {} }] },
      /non-unique 0-2 property hs_object_id/,
    ],
    ['idProperty name', { inputs: [{ id: '1', idProperty: 'name', properties: {} }] }, /non-unique 0-2 property name/],
    ['null', traced(['1'], { name: null }), /Invalid input JSON/],
    ['a bare number', traced(['1'], { numberofemployees: 7 }), /Invalid input JSON/],
    ['no inputs', {}, /Invalid input JSON/],
    ['an id as a number', { inputs: [{ id: 1, properties: {} }] }, /Invalid input JSON/],
    ['half a body', '{"inputs":[', /Invalid input JSON/],
  ])('and refuses %s', async (_label, body, message) => {
    const { emulator } = await openBench();
    const answer = await call(emulator, 'batch/update', body);
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { status: 'error', category: 'VALIDATION_ERROR', message: expect.stringMatching(message) },
    ]);
    expect(answer.body.correlationId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('and lets one bad input fail all if a trace id is missing', async () => {
    const { emulator } = await openBench();
    const ids = ['A', 'B'].map((name) => emulator.add({ name }));
    const inputs = ids.map((id, i) => ({
      id,
      properties: i === 1 ? { no_such: 'x' } : { name: 'Ny' },
      ...(i === 1 ? {} : { objectWriteTraceId: id }),
    }));
    expect((await call(emulator, 'batch/update', { inputs })).status).toBe(400);
    expect(emulator.get(ids[0] ?? '')?.name).toBe('A');
  });

  it.each([200, 207] as const)('and reports partial errors with %d, a count and the list', async (batchStatus) => {
    const { emulator } = await openBench({ batchStatus });
    const id = emulator.add({ name: 'A' });
    const answer = await call(emulator, 'batch/update', traced([id, '5'], { name: 'Ny' }));
    expect(answer).toMatchObject({
      status: batchStatus,
      body: { numErrors: 1, errors: [{ category: 'OBJECT_NOT_FOUND', context: { ids: ['5'] } }] },
    });
  });

  it('and shuffles results, the same way for the same seed', async () => {
    const order = async (seed: number) => {
      const { emulator } = await openBench({ seed });
      const ids = Array.from({ length: 20 }, (_, i) => emulator.add({ name: `${i}` }));
      const answer = await call(emulator, 'batch/read', { inputs: ids.map((id) => ({ id })), properties: ['name'] });
      return resultIds(answer).map((id) => ids.indexOf(id));
    };
    const first = await order(7);
    expect(first).not.toEqual([...first].sort((a, b) => a - b));
    expect(await order(7)).toEqual(first);
    expect(await order(8)).not.toEqual(first);
  });

  it.each<[string, string, string]>([
    ['no_such', 'x', 'PROPERTY_DOESNT_EXIST'],
    ['createdate', '2026-01-01', 'READ_ONLY_VALUE'],
    ['industry', 'Technology', 'INVALID_OPTION'],
    ['cvr_hold', 'yes', 'INVALID_OPTION'],
    ['numberofemployees', '1.000,5', 'INVALID_LONG'],
    ['cvr_start_date', '01-03-1998', 'INVALID_DATE'],
    ['name', 'x'.repeat(65_537), 'INVALID_STRING_LENGTH'],
  ])('and refuses %s = %s with %s', async (name, value, code) => {
    const { emulator } = await openBench();
    const id = emulator.add({ name: 'A' });
    const { body } = await call(emulator, 'batch/update', traced([id], { [name]: value }));
    expect(JSON.stringify(body.errors)).toContain(code);
    expect(JSON.stringify(body.results)).toBe('[]');
  });

  it('and stores dates, times and domains in one spelling', async () => {
    const { emulator } = await openBench();
    const id = emulator.add({ name: 'A' });
    await call(
      emulator,
      'batch/update',
      traced([id], {
        domain: 'https://WWW.Example.DK/om',
        cvr_start_date: '888710400000',
        cvr_changed_at: '2026-06-10T12:00:00+02:00',
      }),
    );
    expect(emulator.get(id)).toMatchObject({
      domain: 'example.dk',
      cvr_start_date: '1998-03-01',
      cvr_changed_at: '2026-06-10T10:00:00.000Z',
    });
  });
});

describe('an emulated account', () => {
  it('merges into a new id to which both old ids lead', async () => {
    const { emulator } = await openBench();
    const [a, b] = [emulator.add({ name: 'A', city: 'Ribe' }), emulator.add({ name: 'B', zip: '0999' })];
    const survivor = emulator.merge(a, b);
    expect([a, b]).not.toContain(survivor);
    for (const id of [a, b, survivor]) {
      const { body } = await call(emulator, `${id}?properties=name,zip&properties=hs_merged_object_ids`);
      expect(body).toMatchObject({
        id: survivor,
        properties: { name: 'A', zip: '0999', hs_merged_object_ids: `${a};${b}` },
      });
    }
    expect([emulator.get(a), emulator.get(survivor)?.city]).toEqual([undefined, 'Ribe']);
  });

  it('refuses a wrong token, an unknown address and an address too long', async () => {
    const { emulator } = await openBench();
    expect((await call(emulator, '', undefined, 'wrong')).body.category).toBe('INVALID_AUTHENTICATION');
    expect((await call(emulator, '/crm/objects/companies')).status).toBe(404);
    expect((await call(emulator, `?properties=${'a,'.repeat(5_000)}`)).status).toBe(414);
  });

  it('lists pages of 100 at most, 10 unless asked', async () => {
    const { emulator } = await openBench();
    for (let i = 0; i < 12; i += 1) emulator.add({ name: `${i}` });
    expect((await call(emulator, '?limit=101')).status).toBe(400);
    const answer = await call(emulator, '');
    expect([resultIds(answer).length, answer.body.paging]).toEqual([10, { next: { after: '10' } }]);
  });

  it('reports each applied write to a bench, and no refused one', async () => {
    const { emulator } = await openBench();
    const ids = ['A', 'B'].map((name) => emulator.add({ name }));
    const seen: unknown[] = [];
    emulator.onWrite = (id, properties) => seen.push([id, properties]);
    await call(emulator, 'batch/update', traced([...ids, '5'], { numberofemployees: '7' }));
    await call(emulator, 'batch/update', traced(ids, { industry: 'x' }));
    expect(seen).toEqual(ids.map((id) => [id, { numberofemployees: 7 }]));
  });

  it('applies the same checks to edits of a person', async () => {
    const { emulator } = await openBench();
    const id = emulator.add({ name: 'A' });
    emulator.edit(id, { name: 'B', cvr_hold: true });
    expect(emulator.get(id)).toMatchObject({ name: 'B', cvr_hold: true });
    expect(() => emulator.edit(id, { no_such: 'x' })).toThrow(/no_such/);
    expect(() => emulator.add({ industry: 'x' })).toThrow(/industry/);
    emulator.remove(id);
    expect(() => emulator.remove(id)).toThrow(/no company/);
  });

  it('lets two companies have one CVR number only if the property is not unique', async () => {
    const { emulator } = await openBench();
    emulator.add({ cvr_number: '10000009' });
    expect(() => emulator.add({ cvr_number: '10000009' })).toThrow(/already used/);
    const other = await openBench({ properties: [{ name: 'cvr_number', hasUniqueValue: false }] });
    for (const text of ['10000009', '10000009', 'DK 10 00 00 09']) other.emulator.add({ cvr_number: text });
  });
});
