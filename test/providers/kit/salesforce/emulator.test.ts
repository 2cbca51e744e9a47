/** The emulator is as strict as Salesforce where this project could go wrong unseen. */
import { describe, expect, it } from 'vitest';
import { parseSoql } from '../../../../providers/kit/salesforce/soql.ts';
import { code, openApi } from '../../salesforce/raw.ts';

describe('the emulated Salesforce', () => {
  it('accepts 200 records in a collection and no more', async () => {
    const { call } = await openApi();
    const records = Array.from({ length: 201 }, () => ({ attributes: { type: 'Account' }, id: '001Qy0100000001AAA' }));
    expect(code(await call('PATCH', '/composite/sobjects', { records }))).toEqual([400, 'EXCEEDED_ID_LIMIT']);
    expect((await call('PATCH', '/composite/sobjects', { records: records.slice(1) })).json.length).toBe(200);
  });

  it('answers a deleted record differently to reads and writes', async () => {
    const { emulator, call } = await openApi();
    const id = emulator.add({ Name: 'Birk ApS' });
    expect((await call('PATCH', `/sobjects/Account/${id}`, { Phone: '1' })).status).toBe(204);
    expect((await call('GET', `/sobjects/Account/${id}?fields=Phone`)).json).toMatchObject({ Id: id, Phone: '1' });
    emulator.remove(id);
    expect(code(await call('GET', `/sobjects/Account/${id}`))).toEqual([404, 'NOT_FOUND']);
    expect(code(await call('PATCH', `/sobjects/Account/${id}`, { Phone: '2' }))).toEqual([404, 'ENTITY_IS_DELETED']);
    expect((await call('POST', '/composite/sobjects/Account', { ids: [id], fields: ['Id'] })).json).toEqual([null]);
  });

  it('names the error of one record with statusCode, at the place of the record', async () => {
    const { emulator, call } = await openApi();
    const id = emulator.add({ Name: 'Birk ApS' });
    const record = (values: object) => ({ attributes: { type: 'Account' }, id, ...values });
    const { json } = await call('PATCH', '/composite/sobjects', {
      records: [record({ Name: null }), record({ Fax: '9' })],
    });
    expect(json).toMatchObject([
      { success: false, errors: [{ statusCode: 'REQUIRED_FIELD_MISSING', fields: ['Name'] }] },
      { success: true, id },
    ]);
    expect(Object.keys(json[0])).not.toContain('id');
  });

  it('changes the owner on an address update that does not say no', async () => {
    const { emulator, call } = await openApi();
    const id = emulator.add({ Name: 'Birk ApS' });
    const owner = emulator.get(id)?.OwnerId;
    await call('PATCH', `/sobjects/Account/${id}`, { BillingCity: 'Aarhus C' });
    expect(emulator.get(id)?.OwnerId).not.toBe(owner);
  });

  it('pages queries by locators that end', async () => {
    const { emulator, call, query } = await openApi({ pageSize: 2 });
    for (const Name of ['A', 'B', 'C', 'D', 'E']) emulator.add({ Name });
    const first = (await query('SELECT Id, Name FROM Account')).json;
    expect([first.totalSize, first.done, first.records.length]).toEqual([5, false, 2]);
    const path = first.nextRecordsUrl.replace('/services/data/v67.0', '');
    expect((await call('GET', path)).json.records.map((row: { Name: string }) => row.Name)).toEqual(['C', 'D']);
    expect(code(await call('GET', path))).toEqual([400, 'INVALID_QUERY_LOCATOR']);
  });

  it('shows deleted and merged records to queryAll alone', async () => {
    const { emulator, query } = await openApi();
    const [a = '', b = ''] = ['A', 'B'].map((Name) => emulator.add({ Name }));
    emulator.merge(a, b);
    const soql =
      'SELECT Id, IsDeleted, MasterRecordId FROM Account WHERE IsDeleted = true AND SystemModstamp > 2020-01-01T00:00:00Z';
    expect((await query(soql)).json.records).toEqual([]);
    expect((await query(soql, 'queryAll')).json.records).toMatchObject([{ Id: b, IsDeleted: true, MasterRecordId: a }]);
  });

  it('refuses queries as Salesforce does', async () => {
    const { query, call } = await openApi({ hiddenFields: ['Fax'] });
    expect(code(await query('SELECT FROM'))).toEqual([400, 'MALFORMED_QUERY']);
    expect(code(await query('SELECT Fax FROM Account'))).toEqual([400, 'INVALID_FIELD']);
    expect(code(await query("SELECT Id FROM Account WHERE Description = 'x'"))).toEqual([400, 'INVALID_FIELD']);
    expect(code(await query('SELECT Id FROM Contact'))).toEqual([400, 'INVALID_TYPE']);
    expect((await call('GET', `/query?q=${'x'.repeat(17_000)}`)).status).toBe(431);
  });

  it('reports an allowance that goes down as well as up', async () => {
    const { call } = await openApi({ usageJitter: 5 });
    const used: number[] = [];
    for (let at = 0; at < 30; at += 1) {
      const { headers } = await call('GET', '/sobjects/Account/describe');
      used.push(Number(/api-usage=(\d+)\/100000/.exec(headers.get('sforce-limit-info') ?? '')?.[1]));
    }
    expect(used.some((count, at) => count < (used[at - 1] ?? 0))).toBe(true);
    expect(Math.max(...used)).toBeLessThanOrEqual(30);
  });

  it("refuses retired versions, and a person's impossible edit", async () => {
    const { emulator, token } = await openApi();
    const old = await fetch(`${emulator.url}/services/data/v30.0/sobjects/Account/describe`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(old.status).toBe(410);
    expect(() => emulator.add({ Phone: '1' })).toThrow(/REQUIRED_FIELD_MISSING/);
    expect(() => emulator.add({ Name: 'x', Nothing__c: '1' })).toThrow(/Nothing__c/);
  });

  it('gives the same ids for the same seed', async () => {
    const [a, b, c] = await Promise.all([openApi({ seed: 7 }), openApi({ seed: 7 }), openApi({ seed: 8 })]);
    const ids = [a, b, c].map(({ emulator }) => emulator.add({ Name: 'Birk ApS' }));
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).not.toBe(ids[2]);
  });

  it('reports every applied write, with the values as they are stored', async () => {
    const { emulator, call } = await openApi();
    const seen: unknown[] = [];
    emulator.onWrite = (id, values) => seen.push([id, values]);
    const id = emulator.add({ Name: 'Birk ApS' });
    await call('PATCH', `/sobjects/Account/${id}`, { Phone: ' 1 ', Fax: '' });
    expect(seen).toEqual([[id, { Phone: '1', Fax: null }]]);
  });
});

describe('the SOQL of the emulator', () => {
  it('reads what it knows and nothing else', () => {
    expect(
      parseSoql("SELECT Id FROM Account WHERE Name = 'O\\'Neill \\\\' AND Id IN ('a','b') ORDER BY Id LIMIT 5"),
    ).toEqual({
      fields: ['Id'],
      object: 'Account',
      where: [
        { field: 'Name', operator: '=', values: ["O'Neill \\"] },
        { field: 'Id', operator: 'IN', values: ['a', 'b'] },
      ],
      order: [{ field: 'Id', descending: false }],
      limit: 5,
    });
    for (const bad of [
      "SELECT Id FROM Account WHERE Name = 'a\\'",
      'SELECT Id FROM Account ORDER Name',
      'SELECT Id FROM Account OR',
      'DELETE',
    ]) {
      expect(parseSoql(bad)).toBeUndefined();
    }
  });
});
