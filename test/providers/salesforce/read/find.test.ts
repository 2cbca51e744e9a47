/** Finding an account by a value before another one is made. */
import { describe, expect, it } from 'vitest';
import { live, openBench } from '../setup.ts';

describe('finding accounts', () => {
  it('returns the live ones that hold the value, and is sure', async () => {
    const { emulator, connection } = await openBench();
    const [a = '', b = '', c = ''] = ['A', 'B', 'C'].map((Name) => emulator.add({ Name, AccountNumber: '10103940' }));
    emulator.remove(c);
    expect(await connection.find?.('AccountNumber', '10103940', live())).toEqual({
      sure: true,
      records: [
        { id: a, properties: { AccountNumber: '10103940', Name: 'A' } },
        { id: b, properties: { AccountNumber: '10103940', Name: 'B' } },
      ],
    });
    expect(await connection.find?.('AccountNumber', '10103941', live())).toEqual({ sure: true, records: [] });
  });

  it('returns ten at most', async () => {
    const { emulator, connection } = await openBench();
    for (let at = 0; at < 12; at += 1) emulator.add({ Name: 'Ens ApS' });
    expect((await connection.find?.('Name', 'Ens ApS', live()))?.records.length).toBe(10);
  });

  it.each(["O'Neill \\ Søn", "' OR Name != '", '\\'])('treats %s as text and nothing else', async (Name) => {
    const { emulator, connection } = await openBench();
    emulator.add({ Name: 'Birk ApS' });
    const id = emulator.add({ Name });
    expect((await connection.find?.('Name', Name, live()))?.records.map((record) => record.id)).toEqual([id]);
  });

  it('compares numbers and checkboxes as such, and finds nothing by what they cannot hold', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ Name: 'Birk ApS', CVR_Employees__c: 12, CVR_Hold__c: true });
    const found = async (property: string, value: string) =>
      (await connection.find?.(property, value, live()))?.records.map((record) => record.id);
    expect(await found('CVR_Employees__c', '12')).toEqual([id]);
    expect(await found('CVR_Employees__c', "12' OR Name != ''")).toEqual([]);
    expect(await found('CVR_Hold__c', 'true')).toEqual([id]);
    expect(await found('CVR_Hold__c', 'yes')).toEqual([]);
  });

  it('names a field that it cannot search: hidden, unknown, or too long', async () => {
    const { connection } = await openBench({ hiddenFields: ['Fax'] });
    for (const [property, message] of [
      ['Fax', /Fax.*hides it/],
      ["Name = '' OR Name", /no field/],
      ['Description', /can not be filtered/],
    ] as const) {
      await expect(connection.find?.(property, 'x', live())).rejects.toMatchObject({
        fault: 'refused',
        message: expect.stringMatching(message),
      });
    }
  });
});
