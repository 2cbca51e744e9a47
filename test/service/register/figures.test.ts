import { describe, expect, test } from 'vitest';
import { intervalOfCode, intervalOfNumber } from '../../../src/service/register/document/intervals.ts';
import { precisePercentage, shareInterval } from '../../../src/service/register/document/shares.ts';
import { companyOf, type Json } from './documents.ts';

describe('shares', () => {
  test.each([
    ['0.0', '0-5'],
    ['0.05', '5-10'],
    ['0.1', '10-15'],
    ['0.15', '15-20'],
    ['0.2', '20-25'],
    ['0.25', '25-33.33'],
    ['0.3333', '33.33-50'],
    ['0.5', '50-66.67'],
    ['0.6667', '66.67-90'],
    ['0.9', '90-100'],
    ['1.0', '100'],
  ])('a lower bound of %s is the band %s', (fraction, band) => expect(shareInterval(fraction)).toBe(band));

  test('a fraction between two bounds is in the band of the lower', () => {
    expect(shareInterval('0.12')).toBe('10-15');
    expect(shareInterval('0.333333')).toBe('33.33-50');
    expect(shareInterval('0.999')).toBe('90-100');
  });

  test.each([
    ['0.3333', '33.33'],
    ['0.3', '30'],
    ['0.07', '7'],
    ['0.29', '29'],
    ['1', '100'],
    ['0.000001', '0.0001'],
    ['0,5', '50'],
  ])('a fraction of %s is precisely %s per cent, without the dust of binary fractions', (fraction, percent) =>
    expect(precisePercentage(fraction)).toBe(percent),
  );

  test('an invalid fraction is no share', () => {
    for (const wrong of ['', 'x', '-0.1', '1.01', '33', null, {}, Number.NaN]) {
      expect(shareInterval(wrong)).toBeNull();
      expect(precisePercentage(wrong)).toBeNull();
    }
  });
});

describe('employees', () => {
  test.each([
    ['ANTAL_0_0', '0'],
    ['ANTAL_1_1', '1'],
    ['ANTAL_2_4', '2-4'],
    ['ANTAL_5_9', '5-9'],
    ['ANTAL_10_19', '10-19'],
    ['ANTAL_20_49', '20-49'],
    ['ANTAL_50_99', '50-99'],
    ['ANTAL_100_199', '100-199'],
    ['ANTAL_200_499', '200-499'],
    ['ANTAL_500_999', '500-999'],
    ['ANTAL_1000_999999', '1000+'],
    ['ANTAL_1000_', '1000+'],
    ['ANTAL_1000', '1000+'],
    ['ANTAL_2000_X', '1000+'],
  ])('%s is %s', (code, interval) => expect(intervalOfCode(code)).toBe(interval));

  test('a number is in the interval that holds it', () => {
    expect([0, 1, 3, 9, 10, 49, 999, 1000, 5000].map(intervalOfNumber)).toEqual(
      ['0', '1', '2-4', '5-9', '10-19', '20-49', '500-999', '1000+', '1000+'], // the register's bounds
    );
  });

  const month = (
    aar: number,
    maaned: number,
    antalAnsatte: number | null,
    at = '2026-03-01T00:00:00.000+01:00',
  ): Json => ({
    aar,
    maaned,
    antalAnsatte,
    sidstOpdateret: at,
  });

  test('the newest month counts, in any order', () => {
    const { monthly } = companyOf({
      erstMaanedsbeskaeftigelse: [month(2026, 1, 12), month(2025, 12, 11), month(2025, 3, 9)],
    });
    expect(monthly).toMatchObject({ year: 2026, number: 1, value: 12 });
  });

  test('a month that occurs twice counts as it was registered last', () => {
    const twice = [month(2026, 1, 12), month(2026, 1, 13, '2026-03-05T00:00:00.000+01:00')];
    expect(companyOf({ erstMaanedsbeskaeftigelse: twice }).monthly?.value).toBe(13);
    expect(companyOf({ erstMaanedsbeskaeftigelse: twice.toReversed() }).monthly?.value).toBe(13);
  });

  test('months without an exact number do not count', () => {
    expect(companyOf({ erstMaanedsbeskaeftigelse: [month(2026, 1, null), month(2025, 12, 11)] }).monthly?.value).toBe(
      11,
    );
    expect(
      companyOf({ maanedsbeskaeftigelse: [{ ...month(2018, 1, null), intervalKodeAntalAnsatte: 'ANTAL_2_4' }] })
        .monthly,
    ).toBeNull();
  });

  test('quarters and years are intervals, from whichever list is newer', () => {
    const { quarterly, yearly } = companyOf({
      kvartalsbeskaeftigelse: [{ aar: 2018, kvartal: 4, intervalKodeAntalAnsatte: 'ANTAL_2_4' }],
      erstKvartalsbeskaeftigelse: [{ aar: 2025, kvartal: 3, antalAnsatte: 12 }],
      aarsbeskaeftigelse: [
        { aar: 2017, intervalKodeAntalAnsatte: 'ANTAL_5_9' },
        { aar: 2018, intervalKodeAntalAnsatte: null },
      ],
    });
    expect(quarterly).toMatchObject({ year: 2025, number: 3, value: '10-19' });
    expect(yearly).toMatchObject({ year: 2017, value: '5-9' });
  });
});
