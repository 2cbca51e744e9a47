import { describe, expect, test } from 'vitest';
import { addressFields } from '../../../src/connector/facts/extract-address.ts';
import type { Address } from '../../../src/protocol/formats.ts';
import { sampleCompany } from '../../../src/protocol/sample/company.ts';

const base: Address = {
  ...sampleCompany(1).address,
  countryCode: 'DK',
  freeText: null,
  municipality: null,
  houseNumberFrom: 4,
  houseNumberTo: null,
  houseLetterFrom: null,
  houseLetterTo: null,
  floor: null,
  sideDoor: null,
  coName: null,
  postalBox: null,
  streetName: 'Eksempelvej',
  cityName: null,
  postalCode: 8000,
  postalDistrict: 'Aarhus C',
};
const flat = (parts: Partial<Address>) =>
  Object.fromEntries(addressFields(null, { ...base, ...parts }).map(({ field, now }) => [field, now]));

describe('the street', () => {
  const spellings: readonly (readonly [Partial<Address>, string | null])[] = [
    [{}, 'Eksempelvej 4'],
    [{ houseLetterFrom: 'A' }, 'Eksempelvej 4A'],
    [{ houseNumberTo: 6 }, 'Eksempelvej 4-6'],
    [{ houseLetterFrom: 'A', houseNumberTo: 6, houseLetterTo: 'B' }, 'Eksempelvej 4A-6B'],
    [{ houseLetterFrom: 'A', houseLetterTo: 'C' }, 'Eksempelvej 4A-C'],
    [{ houseNumberTo: 4 }, 'Eksempelvej 4'],
    [{ floor: '2', sideDoor: 'tv' }, 'Eksempelvej 4, 2. tv'],
    [{ floor: 'st', sideDoor: 'th' }, 'Eksempelvej 4, st. th'],
    [{ floor: 'kl.' }, 'Eksempelvej 4, kl.'],
    [{ sideDoor: '12' }, 'Eksempelvej 4, 12'],
    [{ floor: '', sideDoor: ' ', houseLetterFrom: '' }, 'Eksempelvej 4'],
    [{ houseNumberFrom: null }, 'Eksempelvej'],
    [{ streetName: null }, null],
    [{ streetName: ' ', freeText: ' 12 Quay Street\nDublin ' }, '12 Quay Street\nDublin'],
    [{ freeText: 'not this' }, 'Eksempelvej 4'],
  ];
  test.each(spellings)('%j is %j', (parts, street) => {
    expect(flat(parts).street).toBe(street);
  });
});

describe('the rest of an address', () => {
  const cases: readonly (readonly [string, Partial<Address>, Readonly<Record<string, unknown>>])[] = [
    ['a Danish postal code that lost its zero has it again', { postalCode: 800 }, { postalCode: '0800' }],
    [
      'also as a text, and where no country is stated',
      { postalCode: ' 999', countryCode: null },
      { postalCode: '0999' },
    ],
    ['a whole one stays', { postalCode: 8000 }, { postalCode: '8000' }],
    ['a foreign one is not padded', { postalCode: 101, countryCode: 'IS' }, { postalCode: '101', country: 'Iceland' }],
    [
      'a foreign one may be a text',
      { postalCode: 'D02 X285', countryCode: 'ie' },
      { postalCode: 'D02 X285', countryCode: 'IE' },
    ],
    ['the country has its English name', { countryCode: 'dk' }, { countryCode: 'DK', country: 'Denmark' }],
    ['an unknown country has none', { countryCode: 'Q9' }, { countryCode: 'Q9', country: null }],
    [
      'blanks are nothing',
      { countryCode: '', coName: ' ', postalBox: '' },
      { countryCode: null, coName: null, postalBox: null },
    ],
    ['the city is the postal district', { cityName: '' }, { city: 'Aarhus C', village: null }],
    ['a village within it stands by itself', { cityName: 'Hasle' }, { city: 'Aarhus C', village: 'Hasle' }],
    ['a village of the same name is none', { cityName: 'AARHUS C ' }, { city: 'Aarhus C', village: null }],
    [
      'without a postal district the city is the village',
      { cityName: 'Hasle', postalDistrict: ' ' },
      { city: 'Hasle', village: null },
    ],
    [
      'c/o, box and municipality stand by themselves',
      {
        coName: 'Anne Berg',
        postalBox: '12',
        municipality: {
          name: 'Aarhus',
          code: 751,
          period: null,
          original: null,
          lastUpdated: null,
          relatedEntityId: null,
          relatedUpdates: [],
        },
      },
      { coName: 'Anne Berg', postalBox: '12', municipality: 'Aarhus' },
    ],
  ];
  test.each(cases)('%s', (_, parts, fields) => {
    expect(flat(parts)).toMatchObject(fields);
  });

  test('the previous address is stated if it is known', () => {
    const moved = addressFields(base, { ...base, streetName: 'Prøvevej' });
    expect(moved[0]).toEqual({ field: 'street', now: 'Prøvevej 4', before: 'Eksempelvej 4' });
    expect(addressFields(null, base)[0]?.before).toBeUndefined();
  });

  test('a removed address leaves every field blank', () => {
    const fields = addressFields(base, null);
    expect(fields.map(({ now }) => now)).toEqual(fields.map(() => null));
    expect(fields[0]?.before).toBe('Eksempelvej 4');
  });
});
