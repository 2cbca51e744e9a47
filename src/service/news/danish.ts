/** Numbers, days, shares, addresses and lists as Danish readers write them. Pure. */
import type { Address, Capital, CompanyForm, Industry } from '../../protocol/formats.ts';
import type { Phrase } from './phrase.ts';

const NUMBER = new Intl.NumberFormat('da-DK', { maximumFractionDigits: 2 });
const DAY = new Intl.DateTimeFormat('da-DK', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

export const number = (value: number): string => NUMBER.format(value).replace(/^-/, '−');

/** "1.250.000 kr."; other currencies by their code. */
export const money = (value: number, currency: string | null): string =>
  currency === null || currency.toUpperCase() === 'DKK' ? `${number(value)} kr.` : `${number(value)} ${currency}`;

/** "1. maj 2026"; what is no day is given as it is. */
export function day(text: string): string {
  const ms = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(ms) ? text : DAY.format(ms);
}

/** A share of the wire (`10-15`, `33.33-50`, `26.5`) as "10–15 %". */
export function share(text: string): string {
  const bare = text.replace(/%/g, '').trim();
  if (!/^[\d.,\s-]+$/.test(bare)) return text;
  return `${bare.replace(/\s*-\s*/g, '–').replaceAll('.', ',')} %`;
}

/** "A", "A og B", "A, B og C". */
export function list(phrases: readonly Phrase[]): Phrase {
  return phrases.flatMap((phrase, at): Phrase => {
    if (at === 0) return phrase;
    return [at === phrases.length - 1 ? ' og ' : ', ', ...phrase];
  });
}

/** The first of them, and how many others there are. */
export function shortList(phrases: readonly Phrase[], most: number): Phrase {
  const others = phrases.length - most;
  return others < 2 ? list(phrases) : list([...phrases.slice(0, most), [`${number(others)} andre`]]);
}

const filled = (text: string | null | undefined): string => text?.trim() ?? '';

/** "Eksempelvej 4A–6, 2. tv., 8000 Aarhus C"; undefined where nothing of it is known. */
export function addressLine(address: Address): string | undefined {
  const from = `${address.houseNumberFrom ?? ''}${filled(address.houseLetterFrom)}`;
  const to = `${address.houseNumberTo ?? ''}${filled(address.houseLetterTo)}`;
  const house = to === '' || to === from ? from : `${from}–${to}`;
  const floor = filled(address.floor).replace(/\.$/, '');
  const door = [floor === '' ? '' : `${floor}.`, filled(address.sideDoor)].filter(Boolean).join(' ');
  const street = filled(address.streetName);
  const code = address.postalCode === null ? '' : String(address.postalCode);
  const isDanish = (address.countryCode ?? 'DK').toUpperCase() === 'DK';
  const parts = [
    filled(address.coName) && `c/o ${filled(address.coName).replace(/^c\/o\s+/i, '')}`,
    street === '' ? filled(address.freeText) : [street, house].filter(Boolean).join(' '),
    door,
    filled(address.postalBox) && `Postboks ${filled(address.postalBox).replace(/^postboks\s+/i, '')}`,
    filled(address.cityName),
    [isDanish && code !== '' ? code.padStart(4, '0') : code, filled(address.postalDistrict)].filter(Boolean).join(' '),
    isDanish ? '' : countryName(filled(address.countryCode)),
  ].filter(Boolean);
  return parts.length === 0 ? undefined : parts.join(', ');
}

function countryName(code: string): string {
  const names = new Intl.DisplayNames('da', { type: 'region', fallback: 'code' });
  return /^[a-z]{2}$/i.test(code) ? (names.of(code.toUpperCase()) ?? code) : code;
}

export const capitalText = ({ value, currency }: Capital): string => money(value, currency);

/** "Bagerier (10.71.20)". */
export function industryText({ industryCode, industryText: text }: Industry): string {
  const code = /^\d{6}$/.test(industryCode) ? industryCode.replace(/(\d\d)(?=\d)/g, '$1.') : industryCode;
  return filled(text) === '' ? code : `${filled(text)} (${code})`;
}

export const formText = (form: CompanyForm): string =>
  filled(form.longDescription) || filled(form.shortDescription) || String(form.companyFormCode);

const YEAR_PARTS = [
  'januar',
  'februar',
  'marts',
  'april',
  'maj',
  'juni',
  'juli',
  'august',
  'september',
  'oktober',
  'november',
  'december',
];
export const monthName = (month: number): string => YEAR_PARTS[month - 1] ?? String(month);
