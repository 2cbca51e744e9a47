/** The emulated HubSpot is as untidy as the real one. */
import { describe, expect, it } from 'vitest';
import { call, traced } from '../../hubspot/raw.ts';
import { openBench } from '../../hubspot/setup.ts';

const PROPERTIES = '/crm/properties/2026-09/companies';

describe('an emulated account', () => {
  it('shows its currency, and the properties that use it', async () => {
    const { emulator } = await openBench({
      currency: 'EUR',
      additionalCurrencies: ['DKK'],
      properties: [{ name: 'turnover', type: 'number', showCurrencySymbol: true }],
    });
    const details = await call(emulator, '/account-info/v3/details');
    expect(details.body).toMatchObject({ companyCurrency: 'EUR', additionalCurrencies: ['DKK'] });
    const shows = async (name: string) => (await call(emulator, `${PROPERTIES}/${name}`)).body.showCurrencySymbol;
    expect([await shows('turnover'), await shows('annualrevenue')]).toEqual([true, true]);
    expect(await shows('numberofemployees')).toBeUndefined();
  });

  it('stores the display format of a new number', async () => {
    const { emulator } = await openBench();
    const about = { label: 'Founded', type: 'number', fieldType: 'number', groupName: 'companyinformation' };
    const made = await call(emulator, PROPERTIES, { name: 'founded', ...about, numberDisplayHint: 'unformatted' });
    expect([made.status, (await call(emulator, `${PROPERTIES}/founded`)).body]).toMatchObject([
      201,
      { numberDisplayHint: 'unformatted' },
    ]);
  });

  it('fills a blank domain from the website, and other blanks from the domain', async () => {
    const { emulator } = await openBench({
      enrichment: (domain) => (domain === 'facebook.com' ? { city: 'Menlo Park', phone: '+1 650' } : {}),
    });
    const [blank, own] = [emulator.add({ name: 'A', phone: '33' }), emulator.add({ name: 'B', domain: 'b.dk' })];
    await call(emulator, 'batch/update', traced([blank, own], { website: 'https://www.facebook.com/birk' }));
    expect(emulator.get(blank)).toMatchObject({ domain: 'facebook.com', city: 'Menlo Park', phone: '33' });
    expect(emulator.get(own)).toMatchObject({ domain: 'b.dk', city: null });
  });

  it('changes the type of a property while it is in use, and loses what does not fit', async () => {
    const { emulator } = await openBench();
    const [text, digits] = [emulator.add({ founded_year: 'om 2 år' }), emulator.add({ founded_year: '1998' })];
    emulator.changeProperty({ name: 'founded_year', type: 'number' });
    expect([emulator.get(text)?.founded_year, emulator.get(digits)?.founded_year]).toEqual([null, 1998]);
    const { body } = await call(emulator, 'batch/update', traced([text], { founded_year: 'MCM' }));
    expect(JSON.stringify(body.errors)).toContain('INVALID_LONG');
    expect(() => emulator.changeProperty({ name: 'no_such' })).toThrow(/no_such/);
  });

  it('lets a person act between the read and its answer, and right before an update', async () => {
    const { emulator } = await openBench();
    const id = emulator.add({ name: 'A' });
    emulator.onRead = (ids) => ids.forEach((read) => void emulator.edit(read, { name: 'B', city: 'Ribe' }));
    const read = await call(emulator, 'batch/read', { inputs: [{ id }], properties: ['name'] });
    expect([read.body.results, emulator.get(id)?.name]).toMatchObject([[{ properties: { name: 'A' } }], 'B']);
    expect((await call(emulator, `${id}?properties=name`)).body).toMatchObject({ properties: { name: 'B' } });
    const met: unknown[] = [];
    emulator.onArrival = (ids) => void met.push(...ids.map((each) => emulator.get(each)?.name));
    await call(emulator, 'batch/update', traced([id], { name: 'C' }));
    expect([met, emulator.get(id)]).toMatchObject([['B'], { name: 'C', city: 'Ribe' }]);
  });
});
