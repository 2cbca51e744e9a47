import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entityIdIn, passesModulus11, readCvrNumber } from '../../src/protocol/cvr-number.ts';

const VALID = '99000015';
const eightDigits = fc.integer({ min: 10_000_000, max: 99_999_999 }).map(String);

describe('CVR numbers', () => {
  it.each([
    '99000015',
    ' 99000015 ',
    '99 00 00 15',
    '99.00.00.15',
    '99-00-00-15',
    '99\u00a000\u202f00\u00a015',
    '９９００００１５',
    '\u200b99000015\ufeff',
    'DK99000015',
    'dk 99 00 00 15',
    'DK-99000015',
    'CVR: 99000015',
    'CVR-nr. 99000015',
    'cvr.nr.: 99000015',
    'Cvr.Nr. 99 00 00 15',
    'SE-nr. 99000015',
    'SE nr.: 99 00 00 15',
    'CVR-nr.: DK 99 00 00 15',
    'cvr nummer 99000015',
    'CVR No. 99000015',
    'CVR99000015',
    'VAT DK99000015',
    'CVR-1-99000015',
    'cvr-1-99000015',
    '99000015.0',
    '99000015,00',
    '99.000.015,00',
    '99,000,015.00',
    '99,000,015',
    99000015,
    99000015n,
  ])('reads %s', (input) => {
    expect(readCvrNumber(input)).toEqual({ kind: 'number', number: VALID, valid: true });
  });

  it('reads any number through any separators and prefix', () => {
    const separator = fc.constantFrom('', ' ', '.', '-', '\u00a0', '\u2011');
    fc.assert(
      fc.property(
        eightDigits,
        separator,
        fc.constantFrom('', 'DK', 'dk ', 'CVR ', 'CVR-nr.: '),
        (number, gap, prefix) => {
          expect(readCvrNumber(prefix + (number.match(/../g) ?? []).join(gap))).toMatchObject({
            kind: 'number',
            number,
          });
        },
      ),
    );
  });

  it('warns of a number that fails the modulus 11 check and still reads it', () => {
    expect(readCvrNumber('99000016')).toEqual({ kind: 'number', number: '99000016', valid: false });
    expect(passesModulus11('99000015')).toBe(true);
  });

  it('lets exactly one last digit of ten pass the check at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000_000, max: 9_999_999 }), (stem) => {
        const passing = Array.from({ length: 10 }, (_, digit) => `${stem}${digit}`).filter(passesModulus11);
        expect(passing.length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('never pads a text silently: a lost leading zero is a verdict of its own', () => {
    expect(readCvrNumber('1234567')).toMatchObject({ kind: 'lost-zero', number: '01234567' });
    expect(readCvrNumber('1234567', { pad: true })).toMatchObject({ kind: 'number', number: '01234567' });
    expect(readCvrNumber(1234567)).toMatchObject({ kind: 'number', number: '01234567' });
    expect(readCvrNumber(123456).kind).toBe('invalid');
  });

  it('tells a production unit from a company', () => {
    for (const input of ['1999000001', 'P 1999000001', 'P-nummer: 1999000001', 'CVR-2-1999000001', 1999000001])
      expect(readCvrNumber(input)).toEqual({ kind: 'production-unit', number: '1999000001' });
    // In pairs, and not a company's with decimals.
    expect(readCvrNumber('19.99.00.01.00')).toEqual({ kind: 'production-unit', number: '1999000100' });
  });

  it('takes nothing that looks like a personal number for a P-number', () => {
    expect(readCvrNumber('111111-1118').kind).toBe('invalid');
    expect(readCvrNumber('0101010101').kind).toBe('invalid');
  });

  it.each([null, undefined, '', '  ', '\u00a0', '-', '\u200b'])('calls %j blank', (input) => {
    expect(readCvrNumber(input)).toEqual({ kind: 'blank' });
  });

  it.each([
    'ukendt',
    '123',
    '999000015',
    '99000015 (branch)',
    '99000015, 99000024',
    'SE556000000001',
    '00000000',
    'P 99000015',
    'DK',
    true,
    {},
    [],
    99000015.5,
    -99000015,
    Number.NaN,
    'CVR-3-4999000001',
  ])('calls %j invalid and says why', (input) => {
    const verdict = readCvrNumber(input);
    expect(verdict.kind).toBe('invalid');
    expect(verdict).toHaveProperty('reason');
  });

  it('never throws and never makes a number of anything but eight digits', () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        const verdict = readCvrNumber(input);
        if (verdict.kind === 'number') expect(verdict.number).toMatch(/^\d{8}$/);
      }),
    );
  });
});

describe('the entity id in a text', () => {
  it.each([
    ['DK 12 34 56 74', 'CVR-1-12345674'],
    ['12345674', 'CVR-1-12345674'],
    [' cvr-1-12345674 ', 'CVR-1-12345674'],
    ['1234567', undefined],
    ['hubspot:12345674', undefined],
    ['', undefined],
  ])('of %j is %s', (text, entity) => {
    expect(entityIdIn(text)).toBe(entity);
  });
});
