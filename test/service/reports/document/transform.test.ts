import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inlineDate, inlineNumber } from '../../../../src/service/reports/document/transform.ts';
import { growthOf, MOST_LINEAR_GROWTH } from '../../../support/growth.ts';
import { shownNumber } from '../page.ts';

const read = (text: string, format?: string, scale?: string, sign?: string) =>
  inlineNumber(text, { format, scale, sign });

describe('a number in a page', () => {
  it.each([
    ['1,234,567.5', 'ixt:num-dot-decimal', '1234567.5'],
    ['1.234.567,5', 'ixt:num-comma-decimal', '1234567.5'],
    ['1 234 567', 'ixt4:num-dot-decimal', '1234567'],
    ['1\u00A0234\u202F567,25', 'x:num-comma-decimal', '1234567.25'],
    ['1’234.5', 'ixt:num-dot-decimal-apos', '1234.5'],
    ['.5', 'ixt:num-dot-decimal', '0.5'],
    [',5', 'ixt:num-comma-decimal', '0.5'],
    ['1,234.5', 'ixt:numdotdecimal', '1234.5'],
    ['1.234,5', 'ixt:numcommadecimal', '1234.5'],
    ['1.234,5', 'ixt:numdotcomma', '1234.5'],
    ['1 234,5', 'ixt:numspacecomma', '1234.5'],
    ['–', 'ixt:fixed-zero', '0'],
    ['ingen', 'ixt:fixed-zero', '0'],
    ['-', 'ixt:zerodash', '0'],
    ['-', 'ixt:numdash', '0'],
    ['12 kr. 5 øre', 'ixt:num-unit-decimal', '12.05'],
    [' 42 ', undefined, '42'],
    ['007', undefined, '7'],
    ['-5.50', undefined, '-5.5'],
  ])('%j as %s is %s', (text, format, value) => {
    expect(read(text, format)).toBe(value);
  });

  it.each([
    ['75,029', undefined],
    ['', 'ixt:num-dot-decimal'],
    ['-', 'ixt:num-dot-decimal'],
    ['(5)', 'ixt:num-dot-decimal'],
    ['1,5,5', 'ixt:num-comma-decimal'],
    ['1.5.5', undefined],
    ['5', 'ixt:fixed-empty'],
    ['5', 'own:format'],
    ['1e5', undefined],
    ['NaN', undefined],
    ['9'.repeat(61), undefined],
  ])('%j as %s cannot be read, and nothing is guessed', (text, format) => {
    expect(read(text, format)).toBeUndefined();
  });

  it('is scaled exactly, in either direction', () => {
    expect(read('75,029', 'ixt:num-dot-decimal', '3')).toBe('75029000');
    expect(read('1.25', undefined, '6')).toBe('1250000');
    expect(read('0.1', undefined, '1')).toBe('1');
    expect(read('12.5', undefined, '-2')).toBe('0.125');
    expect(read('5', undefined, '-6')).toBe('0.000005');
    expect(read('0', undefined, '6', '-')).toBe('0');
    expect(read('9007199254740993', undefined, '3')).toBe('9007199254740993000');
    for (const scale of ['x', '1.5', '99', '']) expect(read('1', undefined, scale)).toBeUndefined();
  });

  it('is the number that was shown, for any number, format, scale and sign', () => {
    const shown = fc.record({
      cents: fc.bigInt({ min: 0n, max: 10n ** 14n }),
      scale: fc.integer({ min: 0, max: 9 }),
      style: fc.constantFrom('dot' as const, 'comma' as const),
      isNegative: fc.boolean(),
    });
    fc.assert(
      fc.property(shown, ({ cents, scale, style, isNegative }) => {
        const text = shownNumber(Number(cents / 100n), style);
        const hundredths = `${style === 'dot' ? '.' : ','}${String(cents % 100n).padStart(2, '0')}`;
        const sign = isNegative ? '-' : undefined;
        const value = read(text + hundredths, `ixt:num-${style}-decimal`, String(scale), sign);
        // The same in whole numbers: read again as hundredths it is what went in, and it has no needless zero.
        const again = inlineNumber(value ?? '', { format: undefined, scale: '2', sign });
        expect(again).toBe(String(cents * 10n ** BigInt(scale)));
        expect(value).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['digits apart', (length: number) => `${'1 '.repeat(length / 2)}x`],
    ['digits', (length: number) => '9'.repeat(length)],
    ['blanks', (length: number) => ' '.repeat(length)],
  ])('of hostile length (%s) is read in linear time', (_, hostile) => {
    for (const format of ['ixt:num-unit-decimal', 'ixt:num-dot-decimal', undefined])
      expect(growthOf((length) => read(hostile(length), format), 12_500)).toBeLessThan(MOST_LINEAR_GROWTH);
  });
});

describe('a date in a page', () => {
  it.each([
    ['27.03.2024', 'ixt:date-day-month-year', '2024-03-27'],
    ['7/3 2024', 'ixt:datedaymonthyear', '2024-03-07'],
    ['03/27/2024', 'ixt:date-month-day-year', '2024-03-27'],
    ['2024-3-27', 'ixt:date-year-month-day', '2024-03-27'],
    ['27. marts 2024', 'ixt:date-day-monthname-year-da', '2024-03-27'],
    ['5. maj 2024', 'ixt:date-day-monthname-year-da', '2024-05-05'],
    ['31. oktober 2024', 'ixt:datedaymonthyearda', '2024-10-31'],
    ['27 March 2024', 'ixt:date-day-monthname-year-en', '2024-03-27'],
    ['December 5, 2024', 'ixt:date-monthname-day-year-en', '2024-12-05'],
    ['2024-03-27', 'ixt:fixed-true', '2024-03-27'],
    ['engang', 'ixt:date-day-month-year', 'engang'],
  ])('%j as %s is %s', (text, format, day) => {
    expect(inlineDate(text, format)).toBe(day);
  });
});
