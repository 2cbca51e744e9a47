import { describe, expect, it } from 'vitest';
import { readStreetAddress } from '../../../src/protocol/danish/street-address.ts';

describe('an address', () => {
  it.each([
    ['Ringvej 1', 'ringvej', '1'],
    ['Ringvej 12 B, 2. tv', 'ringvej', '12b'],
    ['Ringvej 12b', 'ringvej', '12b'],
    ['Ringvej nr. 12', 'ringvej', '12'],
    ['c/o Ole Hansen, Ringvej 1', 'ringvej', '1'],
    ['Nørregade 3, st.', 'norregade', '3'],
    ['Sønder Boulevard 7', 'sdrboulevard', '7'],
    ['Vester Allé 12', 'valle', '12'],
    ['10. Februar Vej 3', '10februarvej', '3'],
    ['Ringvej', 'ringvej', null],
    ['', null, null],
    ['17', null, null],
  ])('%s is the street %s and the house %s', (text, street, house) =>
    expect(readStreetAddress({ street: text })).toMatchObject({ street, house }),
  );

  it('has its postal code where it stands', () => {
    expect(readStreetAddress({ postalCode: 'DK-8000' }).postalCode).toBe('8000');
    expect(readStreetAddress({ city: '8000 Aarhus C' })).toMatchObject({ postalCode: '8000', city: 'arhus' });
    expect(readStreetAddress({ street: 'Ringvej 1, 8000 Århus C' }).postalCode).toBe('8000');
    expect(readStreetAddress({ street: 'Ringvej 1 8000 Århus C' })).toMatchObject({
      postalCode: '8000',
      city: 'arhus',
    });
    expect(readStreetAddress({ street: 'Ringvej 1\nDK-8000 Århus C' }).postalCode).toBe('8000');
    expect(readStreetAddress({ postalCode: '20095' }).postalCode).toBeNull();
  });

  it('names a town by one spelling', () => {
    const cities = ['København K', 'Kbh. S', 'Copenhagen', 'KOEBENHAVN V'].map(
      (city) => readStreetAddress({ city }).city,
    );
    expect(new Set(cities)).toEqual(new Set(['kbh']));
  });
});
