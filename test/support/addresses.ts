/** Three addresses of an invented company. */
import type { Address } from '../../src/protocol/formats.ts';
import { sampleCompany } from '../../src/protocol/sample/company.ts';

const at = (streetName: string, postalCode: number, postalDistrict: string): Address => ({
  ...sampleCompany(1).address,
  ...{ streetName, houseNumberFrom: 1, houseNumberTo: null, houseLetterFrom: null, houseLetterTo: null },
  ...{ floor: null, sideDoor: null, coName: null, postalBox: null, freeText: null, cityName: null },
  ...{ postalCode, postalDistrict },
});

export const AARHUS = at('Østergade', 8000, 'Aarhus C');
export const ODENSE = at('Vestergade', 5000, 'Odense C');
export const KOLDING = at('Havnegade', 6000, 'Kolding');
