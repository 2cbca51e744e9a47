/** The emulated Salesforce is as untidy as orgs are: triggers, approvals, currencies, lists of states, changing fields. */
import { describe, expect, it } from 'vitest';
import { code, openApi } from '../../salesforce/raw.ts';

type Api = Awaited<ReturnType<typeof openApi>>;

/** Updates records in one call; the codes of their errors, blank if one was written. */
async function update({ call }: Api, ids: readonly string[], values: object): Promise<readonly string[]> {
  const records = ids.map((id) => ({ attributes: { type: 'Account' }, id, ...values }));
  const { json } = await call('PATCH', '/composite/sobjects', { records });
  return json.map(({ errors }: { errors: { statusCode: string }[] }) => errors[0]?.statusCode ?? '');
}

const addAll = ({ emulator }: Api, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => emulator.add({ Name: `Company ${at}` }));

const REFUSED = 'CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY';

describe('a trigger of the emulated Salesforce', () => {
  it('breaks its limits in large calls, and blames every record', async () => {
    const api = await openApi({ triggers: [{ kind: 'queries', over: 3 }] });
    const ids = addAll(api, 4);
    expect(await update(api, ids, { Phone: '1' })).toEqual(Array(4).fill(REFUSED));
    expect(await update(api, ids.slice(1), { Phone: '1' })).toEqual(['', '', '']);
    const { json } = await api.call('PATCH', '/composite/sobjects', {
      records: ids.map((id) => ({ attributes: { type: 'Account' }, id, Fax: '1' })),
    });
    expect(json[0].errors[0].message).toContain('Too many SOQL queries: 101');
  });

  it('throws for one record, and so fails all that stand in its call, until somebody mends it', async () => {
    const api = await openApi();
    const [poison = '', ...others] = addAll(api, 3);
    const mend = api.emulator.trigger({ kind: 'throws', on: ({ id }) => id === poison });
    expect(await update(api, [...others, poison], { Phone: '1' })).toEqual([REFUSED, REFUSED, REFUSED]);
    expect(await update(api, others, { Phone: '1' })).toEqual(['', '']);
    expect(code(await api.call('PATCH', `/sobjects/Account/${poison}`, { Phone: '1' }))).toEqual([400, REFUSED]);
    mend();
    expect(await update(api, [poison], { Phone: '1' })).toEqual(['']);
  });

  it('throws for what a record would hold, a new one too', async () => {
    const { call } = await openApi({ triggers: [{ kind: 'throws', on: ({ values }) => values['Fax'] === '13' }] });
    expect(code(await call('POST', '/sobjects/Account', { Name: 'A', Fax: '13' }))).toEqual([400, REFUSED]);
    expect((await call('POST', '/sobjects/Account', { Name: 'A', Fax: '14' })).status).toBe(201);
  });

  it('names a row that another transaction holds inside its text', async () => {
    const api = await openApi();
    const [id = ''] = addAll(api, 1);
    api.emulator.trigger({ kind: 'locks', on: () => true, times: 1 });
    const { json } = await api.call('PATCH', `/sobjects/Account/${id}`, { Phone: '1' });
    expect(json[0]).toMatchObject({ errorCode: REFUSED, message: expect.stringContaining('UNABLE_TO_LOCK_ROW') });
    expect(await update(api, [id], { Phone: '1' })).toEqual(['']);
  });
});

describe('the emulated Salesforce', () => {
  it('keeps a record locked while an approval runs', async () => {
    const api = await openApi();
    const [id = '', other = ''] = addAll(api, 2);
    api.emulator.approve(id, true);
    expect(await update(api, [id, other], { Phone: '1' })).toEqual(['ENTITY_IS_LOCKED', '']);
    api.emulator.approve(id, false);
    expect(await update(api, [id], { Phone: '1' })).toEqual(['']);
  });

  it('accepts no new record if its storage is full, and writes old ones', async () => {
    const api = await openApi();
    const [id = ''] = addAll(api, 1);
    api.emulator.fillStorage(true);
    expect(code(await api.call('POST', '/sobjects/Account', { Name: 'A' }))).toEqual([400, 'STORAGE_LIMIT_EXCEEDED']);
    expect(await update(api, [id], { Phone: '1' })).toEqual(['']);
    api.emulator.fillStorage(false);
    expect((await api.call('POST', '/sobjects/Account', { Name: 'A' })).status).toBe(201);
  });

  it('gives each record a currency if it has several, the own one first', async () => {
    const { emulator, call, query } = await openApi({ currencies: ['DKK', 'EUR'] });
    const [own, other] = [emulator.add({ Name: 'A' }), emulator.add({ Name: 'B', CurrencyIsoCode: 'EUR' })];
    expect([own, other].map((id) => emulator.get(id)?.CurrencyIsoCode)).toEqual(['DKK', 'EUR']);
    await call('PATCH', `/sobjects/Account/${other}`, { AnnualRevenue: 500_000 });
    expect(emulator.get(other)).toMatchObject({ AnnualRevenue: 500_000, CurrencyIsoCode: 'EUR' });
    const corporate = await query('SELECT IsoCode FROM CurrencyType WHERE IsCorporate = true');
    expect(corporate.json.records).toMatchObject([{ IsoCode: 'DKK' }]);
    const { fields } = (await call('GET', '/sobjects/Account/describe')).json;
    expect(fields.some(({ name }: { name: string }) => name === 'CurrencyIsoCode')).toBe(true);
  });

  it('knows no currency of a record if it has only one', async () => {
    const { query } = await openApi();
    expect(code(await query('SELECT IsoCode FROM CurrencyType'))).toEqual([400, 'INVALID_TYPE']);
    expect(code(await query('SELECT CurrencyIsoCode FROM Account'))).toEqual([400, 'INVALID_FIELD']);
  });

  it('refuses a new country beside the state of the old one', async () => {
    const api = await openApi({
      countries: { US: 'United States', DK: 'Denmark' },
      states: { US: { CA: 'California' } },
    });
    const id = api.emulator.add({ Name: 'A', BillingCountryCode: 'US', BillingState: 'California' });
    expect(api.emulator.get(id)).toMatchObject({ BillingCountry: 'United States', BillingStateCode: 'CA' });
    const refused = await api.call('PATCH', `/sobjects/Account/${id}`, { BillingCountryCode: 'DK' });
    expect(refused.json).toMatchObject([{ errorCode: 'FIELD_INTEGRITY_EXCEPTION', fields: ['BillingStateCode'] }]);
    expect(await update(api, [id], { BillingCountryCode: 'DK', BillingStateCode: null })).toEqual(['']);
    expect(api.emulator.get(id)).toMatchObject({ BillingCountry: 'Denmark', BillingState: null });
    expect(await update(api, [id], { BillingState: 'Region Syddanmark' })).toEqual(['FIELD_INTEGRITY_EXCEPTION']);
  });

  it('refuses a city over 40 characters', async () => {
    const api = await openApi();
    expect(await update(api, addAll(api, 1), { BillingCity: 'x'.repeat(41) })).toEqual(['STRING_TOO_LONG']);
  });

  it('refuses a whole call for a field that is a number by now, without its name', async () => {
    const api = await openApi();
    const [id = '', other = ''] = [api.emulator.add({ Name: 'A', Sic: 'x' }), api.emulator.add({ Name: 'B' })];
    api.emulator.changeField({ name: 'Sic', type: 'double' });
    expect(api.emulator.get(id)?.Sic).toBeNull();
    const records = [
      { id, Sic: '621000' },
      { id: other, Phone: '1' },
    ].map((values) => ({
      attributes: { type: 'Account' },
      ...values,
    }));
    const answer = await api.call('PATCH', '/composite/sobjects', { records });
    expect(code(answer)).toEqual([400, 'JSON_PARSER_ERROR']);
    expect([JSON.stringify(answer.json), api.emulator.get(other)?.Phone]).toEqual([
      expect.not.stringContaining('Sic'),
      null,
    ]);
    expect(() => api.emulator.changeField({ name: 'Nothing__c' })).toThrow(/Nothing__c/);
  });

  it('lets a person act between the read and its answer, and right before an update', async () => {
    const api = await openApi();
    const [id = ''] = addAll(api, 1);
    const { emulator, call } = api;
    emulator.onRead = (ids) => ids.forEach((read) => void emulator.edit(read, { Fax: '2' }));
    const read = await call('POST', '/composite/sobjects/Account', { ids: [id], fields: ['Fax'] });
    expect([read.json, emulator.get(id)?.Fax]).toMatchObject([[{ Fax: null }], '2']);
    expect((await call('GET', `/sobjects/Account/${id}?fields=Fax`)).json.Fax).toBe('2');
    const met: unknown[] = [];
    emulator.onArrival = (ids) => void met.push(...ids.map((each) => emulator.get(each)?.Phone));
    expect(await update(api, [id], { Phone: '1' })).toEqual(['']);
    expect(met).toEqual([null]);
  });
});
