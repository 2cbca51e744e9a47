/** The rules that a person should read before the first write. */
import { describe, expect, it } from 'vitest';
import { live, openBench } from '../setup.ts';

const listed = {
  validation: [{ name: 'Phone_Required', message: 'Enter a phone number' }],
  duplicate: ['Standard_Account_Duplicate_Rule'],
};

describe('the rules of an org', () => {
  it('are its required fields, its validation rules and its duplicate rules', async () => {
    const { connection } = await openBench({
      listed,
      fields: [{ name: 'Segment__c', label: 'Segment', nillable: false, required: true }],
    });
    expect(await connection.rules?.(live())).toEqual([
      { kind: 'required', name: 'Segment__c', about: 'Segment may not be blank' },
      { kind: 'validation', name: 'Phone_Required', about: 'Enter a phone number' },
      {
        kind: 'duplicate',
        name: 'Standard_Account_Duplicate_Rule',
        about: 'Standard_Account_Duplicate_Rule',
      },
    ]);
  });

  it('include only those that the user may see', async () => {
    const bench = await openBench({ listed, mayCustomize: false });
    expect((await bench.connection.rules?.(live()))?.map(({ kind }) => kind)).toEqual(['duplicate']);
    const refused = [{ message: 'no access', errorCode: 'INSUFFICIENT_ACCESS' }];
    bench.emulator.fault({ match: 'GET .*0/query$', action: { kind: 'status', status: 403, body: refused } });
    expect(await bench.connection.rules?.(live())).toEqual([]);
  });

  it('are none in a fresh org', async () => {
    const { connection } = await openBench();
    expect(await connection.rules?.(live())).toEqual([]);
  });

  it('are not returned if Salesforce cannot answer, because none would be wrong', async () => {
    const bench = await openBench({ listed });
    bench.emulator.fault({ match: 'tooling/query', action: { kind: 'status', status: 503 } });
    await expect(bench.connection.rules?.(live())).rejects.toMatchObject({ fault: 'unavailable' });
    const limit = [{ message: 'TotalRequests Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }];
    bench.emulator.fault({ match: 'tooling/query', action: { kind: 'status', status: 403, body: limit } });
    await expect(bench.connection.rules?.(live())).rejects.toMatchObject({ fault: 'rate' });
  });
});
