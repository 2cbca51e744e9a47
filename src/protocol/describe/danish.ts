/** Values of events in Danish spelling. */
import { postalTown, villageOf } from '../danish/street-address.ts';
import type { Address, Capital, CompanyForm, Industry } from '../formats.ts';
import { joinLines, withoutPercent } from '../text/trim.ts';

const DATE = new Intl.DateTimeFormat('da-DK', { dateStyle: 'long', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('da-DK', { dateStyle: 'long', timeStyle: 'short', timeZone: 'Europe/Copenhagen' });
const MONTH = new Intl.DateTimeFormat('da-DK', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const NUMBER = new Intl.NumberFormat('da-DK', { maximumFractionDigits: 2 });

/** Formats a date, or a time without zone, as `1. marts 2026`. Other text stays unchanged. */
export function dateText(date: string): string {
  const day = Date.parse(`${date.slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(day) ? date : DATE.format(day);
}

/** Formats an instant as clock time in Copenhagen: `1. marts 2026 kl. 12.00`. Other text stays unchanged. */
export function timeText(time: string): string {
  const instant = Date.parse(time);
  return Number.isNaN(instant) ? time : TIME.format(instant);
}

/** `marts 2026`; `13/2026` for a month that does not exist. */
export const monthText = (year: number, month: number): string =>
  month < 1 || month > 12 || Math.abs(year) > 9_999 ? `${month}/${year}` : MONTH.format(Date.UTC(year, month - 1, 1));

/** `1.234,5`. */
export const numberText = (value: number): string => NUMBER.format(value);

export const moneyText = (value: number, currency: string | null): string =>
  `${numberText(value)} ${currency === null || currency === 'DKK' ? 'kr.' : currency}`;

/** A share, an interval or a number, with or without a percent sign: `33,33-50 %`. */
export function shareText(share: string): string {
  const bare = withoutPercent(share).replaceAll('.', ',');
  return /\d$/.test(bare) ? `${bare} %` : share;
}

export const yesText = (value: boolean): string => (value ? 'Ja' : 'Nej');

/** `UNDER KONKURS` becomes `Under konkurs`; text in mixed case stays unchanged. */
export function sentenceText(text: string): string {
  if (text !== text.toLocaleUpperCase('da') || text.length < 4) return text;
  return text.slice(0, 1) + text.slice(1).toLocaleLowerCase('da');
}

export const industryText = ({ industryCode, industryText: text }: Industry): string =>
  text === null ? industryCode : `${text} (${industryCode})`;

export const formText = ({ companyFormCode, longDescription, shortDescription }: CompanyForm): string =>
  longDescription ?? shortDescription ?? `Form ${companyFormCode}`;

export const capitalText = ({ value, currency }: Capital): string => moneyText(value, currency);

/**
 * An address on one line: `c/o Bo, Eksempelvej 1A-3, 2. th., Landsby, 8000 Aarhus C`; abroad with its country's code.
 */
export function addressText(address: Address): string {
  const { coName, postalBox, streetName, postalCode, countryCode, freeText } = address;
  const houses = [
    `${address.houseNumberFrom ?? ''}${address.houseLetterFrom ?? ''}`,
    `${address.houseNumberTo ?? ''}${address.houseLetterTo ?? ''}`,
  ];
  const floor = address.floor === null ? '' : `${address.floor.toLocaleLowerCase('da')}.`;
  const parts = [
    coName === null ? '' : `c/o ${coName.replace(/^c\/o\s+/i, '')}`,
    joined(' ', [streetName, joined('-', houses)]),
    joined(' ', [floor, address.sideDoor]),
    postalBox === null ? '' : `Postboks ${postalBox}`,
    villageOf(address),
    joined(' ', [postalCode, postalTown(address)]),
    freeText === null ? null : joinLines(freeText, ', '),
    countryCode === 'DK' ? '' : countryCode,
  ];
  return joined(', ', parts);
}

const joined = (by: string, parts: readonly (string | number | null | undefined)[]): string =>
  parts.filter((part) => part !== null && part !== undefined && part !== '').join(by);
