import { describe, expect, it } from 'vitest';
import { isPersonName } from '../../../src/protocol/danish/person-name.ts';

describe('the name of a person', () => {
  it.each(['Ole Hansen', 'Anne-Mette Sørensen', 'Søren B. Lund', 'lars von toft', 'Mohammed Ali', 'Bjørn Krogh'])(
    'is %s',
    (name) => expect(isPersonName(name)).toBe(true),
  );
  it.each([
    'Ole Hansen ApS',
    'Ole Hansen Byg',
    'Ole & Sønner',
    'Nordlys Byg',
    'Salon Ole',
    'Ole',
    'Ole Hansen 2',
    'Jens Toft Advokatfirma',
    'Ole Hansen - Nordlys',
    'Ole Hansen (Nordlys)',
    'Ole Hviid Kurser',
    '',
  ])('is not %s', (name) => expect(isPersonName(name)).toBe(false));
});
