import { describe, expect, it } from 'vitest';
import type { Patch } from '../../../../providers/provider.ts';
import { faultFrom, live, openBench } from '../setup.ts';

const sent = (body: string | undefined): { inputs: Record<string, unknown>[] } => JSON.parse(body ?? '{}');
const kinds = (outcomes: readonly { kind: string }[]) => outcomes.map((outcome) => outcome.kind);

describe('writing companies', () => {
  it('sends texts by record id with a trace id each, and no idProperty', async () => {
    const { emulator, connection, http } = await openBench();
    const ids = [emulator.add({ name: 'A', city: 'Ribe' }), emulator.add({ name: 'B' })];
    const properties = { city: null, numberofemployees: 12, cvr_hold: false };
    await connection.update(
      ids.map((id) => ({ id, properties })),
      live(),
    );
    const { inputs } = sent(http.requests.at(-1)?.body);
    expect(inputs.map((input) => input.properties)).toEqual(
      Array(2).fill({ city: '', numberofemployees: '12', cvr_hold: 'false' }),
    );
    expect(new Set(inputs.map((input) => input.objectWriteTraceId)).size).toBe(2);
    expect(inputs.some((input) => 'idProperty' in input)).toBe(false);
    expect(emulator.get(ids[0] ?? '')).toMatchObject({ name: 'A', city: null, numberofemployees: 12, cvr_hold: false });
  });

  it.each([200, 207] as const)('decides a batch by its body, answered with %d', async (batchStatus) => {
    const { emulator, connection, calls } = await openBench({ batchStatus });
    const ids = ['A', 'B', 'C'].map((name) => emulator.add({ name }));
    const bad = { industry: 'BEEKEEPING', hs_object_id: '7', no_such: 'x', numberofemployees: 'ten', name: 'Ny' };
    const outcomes = await connection.update(
      ids.map((id, i) => ({ id, properties: i === 1 ? bad : { name: 'Ny' } })),
      live(),
    );
    expect(kinds(outcomes)).toEqual(['written', 'rejected', 'written']);
    expect(outcomes[1]).toMatchObject({
      properties: {
        industry: expect.stringContaining('allowed options'),
        hs_object_id: expect.stringContaining('read only'),
        no_such: expect.stringContaining('does not exist'),
        numberofemployees: expect.stringContaining('ten'),
      },
    });
    expect(ids.map((id) => emulator.get(id)?.name)).toEqual(['Ny', 'B', 'Ny']);
    expect(calls()).toHaveLength(1);
  });

  it('accepts any 2xx, listed or not', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ name: 'A' });
    const body = { status: 'COMPLETE', results: [{ id, properties: {} }] };
    for (const status of [201, 202, 299]) {
      emulator.fault({ match: 'batch/update', action: { kind: 'status', status, body } });
      expect(await connection.update([{ id, properties: { name: 'x' } }], live())).toMatchObject([
        { kind: 'written', id },
      ]);
    }
  });

  it('reads an error whose context is a text', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ name: 'A' });
    const errors = [
      { status: 'error', category: 'VALIDATION_ERROR', message: 'no', context: { objectWriteTraceId: id, count: 3 } },
    ];
    emulator.fault({
      match: 'batch/update',
      action: { kind: 'status', status: 200, body: { results: [], numErrors: 1, errors } },
    });
    expect(await connection.update([{ id, properties: { name: 'x' } }], live())).toMatchObject([
      { kind: 'rejected', reason: 'no' },
    ]);
  });

  it('never treats a 200 with empty results as success', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ name: 'A' });
    emulator.fault({
      match: 'batch/update',
      action: { kind: 'status', status: 200, body: { status: 'COMPLETE', results: [] } },
    });
    expect(kinds(await connection.update([{ id, properties: { name: 'x' } }], live()))).toEqual(['retry']);
  });

  it('blames the call, in one call, if a batch is refused as a whole for one of a hundred values', async () => {
    const { emulator, connection, calls } = await openBench({ batchRefusals: 'whole' });
    const ids = Array.from({ length: 100 }, (_, i) => emulator.add({ name: `Nr ${i}` }));
    const patches = ids.map(
      (id, i): Patch => ({ id, properties: { name: 'Ny', industry: i === 42 ? 'BEEKEEPING' : 'FARMING' } }),
    );
    const outcomes = await connection.update(patches, live());
    expect(outcomes.map((outcome) => outcome.id)).toEqual(ids);
    expect(new Set(kinds(outcomes))).toEqual(new Set(['call-refused']));
    expect(calls()).toHaveLength(1);
    expect(await connection.update(patches.slice(42, 43), live())).toMatchObject([
      { kind: 'rejected', properties: { industry: expect.stringContaining('BEEKEEPING') } },
    ]);
  });

  it.each([403, 413])('blames the call if something else than HubSpot answers a write with %d', async (status) => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ name: 'A' });
    const page = { kind: 'status', status, body: '<html>Access denied</html>' } as const;
    emulator.fault({ match: 'batch/update', action: page });
    expect(await connection.update([{ id, properties: { name: 'x' } }], live())).toMatchObject([
      { kind: 'call-refused', reason: expect.stringContaining('HubSpot did not answer') },
    ]);
    emulator.fault({ match: 'batch/read', action: page });
    const fault = await faultFrom(connection.read([id], ['name'], live()));
    expect([fault.fault, fault.message]).toEqual(['refused', expect.stringContaining('HubSpot did not answer')]);
  });

  it('makes one refused call, not two hundred, when an admin has removed a property', async () => {
    const { emulator, connection, calls } = await openBench({
      batchRefusals: 'whole',
      missingProperties: ['cvr_form'],
    });
    const ids = Array.from({ length: 100 }, () => emulator.add({ name: 'A' }));
    const outcomes = await connection.update(
      ids.map((id) => ({ id, properties: { name: 'Ny', cvr_form: 'ApS' } })),
      live(),
    );
    expect(new Set(kinds(outcomes))).toEqual(new Set(['rejected']));
    expect(outcomes[0]).toMatchObject({ properties: { cvr_form: 'Property "cvr_form" does not exist' } });
    expect(calls()).toHaveLength(1);
  });

  it('names the rule of the portal that refuses a company, from 2026-09 on', async () => {
    const required = [{ when: 'cvr_status', needs: 'cvr_form' }];
    const patch = (id: string) => [{ id, properties: { cvr_status: 'NORMAL', name: 'Ny' } }];
    const now = await openBench({ required });
    const id = now.emulator.add({ name: 'A' });
    expect(await now.connection.update(patch(id), live())).toMatchObject([
      { kind: 'rejected', properties: {}, reason: expect.stringContaining('cvr_form') },
    ]);
    const before = await openBench({ required }, { apiVersion: '2026-03' });
    expect(kinds(await before.connection.update(patch(before.emulator.add({ name: 'A' })), live()))).toEqual([
      'written',
    ]);
  });

  it('names the property when another company has the unique value', async () => {
    const { emulator, connection } = await openBench();
    emulator.add({ name: 'A', cvr_number: '10000009' });
    const id = emulator.add({ name: 'B' });
    expect(await connection.update([{ id, properties: { cvr_number: '10000009' } }], live())).toMatchObject([
      { kind: 'rejected', properties: { cvr_number: expect.stringContaining('unique') } },
    ]);
  });

  it.each(['miss', 'survivor'] as const)(
    'reports moved for a merged record, whether a batch means %s by the old id',
    async (mergedInBatch) => {
      const { emulator, connection } = await openBench({ mergedInBatch });
      const [a, b] = [emulator.add({ name: 'A' }), emulator.add({ name: 'B' })];
      const to = emulator.merge(a, b);
      expect(await connection.update([{ id: b, properties: { city: 'Ribe' } }], live())).toEqual([
        { kind: 'moved', id: b, to },
      ]);
    },
  );

  it('does not report a write to another record before it has read that record', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ name: 'A' });
    const results = [{ id: '123', objectWriteTraceId: id, properties: {} }];
    emulator.fault({ match: 'batch/update', action: { kind: 'status', status: 200, body: { results } } });
    const patch = { id, properties: { name: 'x' } };
    expect(await connection.update([patch], live())).toMatchObject([{ kind: 'retry', id }]);
    expect(await connection.update([patch], live())).toMatchObject([{ kind: 'written', id }]);
  });

  it('never treats a wrong address as deleted records', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ name: 'A' });
    emulator.fault({ match: 'batch/update', action: { kind: 'status', status: 404, body: '<html>Not found</html>' } });
    expect((await faultFrom(connection.update([{ id, properties: { name: 'x' } }], live()))).fault).toBe('refused');
  });

  it('applies a 404 with ids to these ids only, and blames the call for the others', async () => {
    const { emulator, connection } = await openBench();
    const [a, b] = [emulator.add({ name: 'A' }), emulator.add({ name: 'B' })];
    emulator.remove(b);
    const body = { category: 'OBJECT_NOT_FOUND', message: 'not found', context: { ids: [b] } };
    emulator.fault({ match: 'batch/update', action: { kind: 'status', status: 404, body } });
    const outcomes = await connection.update(
      [a, b].map((id) => ({ id, properties: { name: 'Ny' } })),
      live(),
    );
    expect(kinds(outcomes)).toEqual(['call-refused', 'gone']);
  });

  it('reports a refused record as refused, whatever a 400 or 409 calls it', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ name: 'A' });
    for (const [status, body] of [
      [409, { category: 'CONFLICT', message: 'Existing ID: 7' }],
      [400, { message: 'odd' }],
      [400, '<html>'],
    ] as const) {
      emulator.fault({ match: 'batch/update', action: { kind: 'status', status, body } });
      expect(await connection.update([{ id, properties: { name: 'x' } }], live())).toMatchObject([
        { kind: 'rejected', properties: {} },
      ]);
    }
  });
});
