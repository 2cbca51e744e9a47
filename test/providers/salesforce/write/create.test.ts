/** Creating an account: never a duplicate, never twice, and the refusals of Salesforce. */
import { describe, expect, it } from 'vitest';
import type { PropertyValue } from '../../../../providers/provider.ts';
import { type Bench, live, openBench } from '../setup.ts';

const make = (bench: Bench, properties: Record<string, PropertyValue>) => bench.connection.create?.(properties, live());
const all = async (bench: Bench) => (await bench.connection.scan(['Name'], undefined, live())).records.length;

describe('creating an account', () => {
  it('returns its id, with values as they are stored and blanks left out', async () => {
    const bench = await openBench();
    const made = await make(bench, { Name: ' Birk ApS ', CVR_Number__c: '10103940', Phone: null, BillingCity: 'Ribe' });
    const id = made?.kind === 'created' ? made.id : '';
    expect(bench.emulator.get(id)).toMatchObject({ Name: 'Birk ApS', CVR_Number__c: '10103940', BillingCity: 'Ribe' });
  });

  it('runs no assignment rules: the owner stays the user of the connection', async () => {
    const bench = await openBench();
    const other = bench.emulator.add({ Name: 'Ege ApS' });
    const made = await make(bench, { Name: 'Birk ApS', BillingCity: 'Ribe' });
    const owner = bench.emulator.get(made?.kind === 'created' ? made.id : '')?.OwnerId;
    expect(owner).toBe(bench.emulator.get(other)?.OwnerId);
  });

  it('reports a duplicate, and of which record, if a unique field holds the value', async () => {
    const bench = await openBench();
    const id = bench.emulator.add({ Name: 'Birk ApS', CVR_Number__c: '10103940' });
    expect(await make(bench, { Name: 'Ny ApS', CVR_Number__c: '10103940' })).toMatchObject({
      kind: 'duplicate',
      id,
      reason: expect.stringContaining('DUPLICATE_VALUE'),
    });
    expect(await all(bench)).toBe(1);
  });

  it.each(['alert', 'block'] as const)('obeys a duplicate rule that would %s, and names the record', async (action) => {
    const ids: string[] = [];
    const bench = await openBench({
      duplicateRule: ({ Name }) => (ids.length > 0 && Name === 'Birk A/S' ? { action, matches: ids } : undefined),
    });
    ids.push(bench.emulator.add({ Name: 'Birk ApS' }));
    expect(await make(bench, { Name: 'Birk A/S' })).toEqual({
      kind: 'duplicate',
      id: ids[0],
      reason: expect.stringMatching(/DUPLICATES_DETECTED.*Standard_Account_Duplicate_Rule/),
    });
    expect(await all(bench)).toBe(1);
  });

  it('reports a duplicate without a record if the rule names none', async () => {
    const bench = await openBench({ duplicateRule: () => 'block' });
    expect(await make(bench, { Name: 'Birk ApS' })).toEqual({ kind: 'duplicate', reason: expect.any(String) });
  });

  it('names country and state if the picklists lack them, and accepts the code', async () => {
    const bench = await openBench({ countries: { DK: 'Denmark' } });
    expect(await make(bench, { Name: 'A', BillingCountry: 'Danmark', BillingState: 'Jylland' })).toMatchObject({
      kind: 'rejected',
      properties: {
        BillingCountry: expect.stringContaining('FIELD_INTEGRITY_EXCEPTION'),
        BillingState: expect.stringContaining('FIELD_INTEGRITY_EXCEPTION'),
      },
    });
    const made = await make(bench, { Name: 'A', BillingCountryCode: 'DK' });
    expect(bench.emulator.get(made?.kind === 'created' ? made.id : '')).toMatchObject({ BillingCountry: 'Denmark' });
  });

  it('names fields that are hidden, unknown, or hidden a moment ago, and one that is required', async () => {
    const bench = await openBench({
      hiddenFields: ['Fax'],
      fields: [{ name: 'Segment__c', nillable: false, required: true }],
    });
    const given = { Name: 'A', Segment__c: 'x' };
    expect(await make(bench, { ...given, Fax: '1', No_Such__c: 2 })).toMatchObject({
      kind: 'rejected',
      properties: { Fax: expect.stringMatching(/hides it/), No_Such__c: expect.stringMatching(/no such field/) },
    });
    bench.emulator.hideField('Phone');
    expect(await make(bench, { ...given, Phone: '1' })).toMatchObject({
      kind: 'rejected',
      properties: { Phone: expect.stringMatching(/hides it/) },
    });
    expect(await make(bench, { Name: 'A' })).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('Segment__c'),
    });
  });

  it("is rejected with the words of the org's own rule", async () => {
    const bench = await openBench({
      validationRule: ({ Phone }) => (Phone === undefined ? 'Enter a phone' : undefined),
    });
    expect(await make(bench, { Name: 'A' })).toEqual({
      kind: 'rejected',
      reason: 'Enter a phone (FIELD_CUSTOM_VALIDATION_EXCEPTION)',
      properties: {},
    });
  });

  it.each(['hang', 'reset', 'cut'] as const)(
    'is unavailable if the answer was lost (%s), and can then be found',
    async (kind) => {
      const bench = await openBench();
      await bench.connection.properties(live());
      const hasty = await bench.connect({}, (request) => bench.http({ ...request, timeoutMs: 2_000 }));
      bench.emulator.fault({ match: 'POST .*/sobjects/Account$', action: { kind, applied: true } });
      await expect(hasty.create?.({ Name: 'Birk ApS', CVR_Number__c: '10103940' }, live())).rejects.toMatchObject({
        fault: 'unavailable',
      });
      expect((await hasty.find?.('CVR_Number__c', '10103940', live()))?.records.length).toBe(1);
      expect((await make(bench, { Name: 'Birk ApS', CVR_Number__c: '10103940' }))?.kind).toBe('duplicate');
    },
  );
});
