/** Splits a company's address into comparable parts. */
import { abbreviated } from './abbreviations.ts';
import { foldLetters } from './letters.ts';
import { isPersonName } from './person-name.ts';

export interface StreetAddress {
  /** Folded, with one spelling for its ending: `ringvej`; null without a street. */
  readonly street: string | null;
  /** With its letter: `12b`; null without a number. */
  readonly house: string | null;
  readonly postalCode: string | null;
  /** Folded, without a district's letter: `arhus`. */
  readonly city: string | null;
}

export interface AddressText {
  readonly street?: string | null | undefined;
  readonly postalCode?: string | null | undefined;
  readonly city?: string | null | undefined;
}

/** The town of a Danish address is its postal district; the register's city is the village in it, if any. */
export function postalTown({ postalDistrict, cityName }: PostalPlace): string | null {
  return filled(postalDistrict) ?? filled(cityName);
}

export function villageOf({ postalDistrict, cityName }: PostalPlace): string | null {
  const village = filled(cityName);
  const town = postalTown({ postalDistrict, cityName });
  return village?.toLowerCase() === town?.toLowerCase() ? null : village;
}

interface PostalPlace {
  readonly postalDistrict: string | null;
  readonly cityName: string | null;
}

const filled = (text: string | null): string | null => text?.trim() || null;

const LONGEST = 200;
const CARE_OF = /^\s*(?:c\s*\/\s*o|att\.?|v\/)[^,\n]*[,\n]/iu;
/** `10. Februar Vej` begins with a number that is not a house number. */
const DATE = /^\d{1,2}\. ?(?=\p{L}{3})/u;
/** A postal code and town after the house. */
const PLACE = /[\s,](?:dk[\s-]?)?(\d{4})\s+(\p{L}{2,}.*)/u;
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/(?<=\p{L})(?:gade|gd|g)$/u, 'gade'],
  [/(?<=\p{L})(?:vej|vj|v)$/u, 'vej'],
  [/(?<=\p{L})(?:alle|al)$/u, 'alle'],
  [/(?<=\p{L})(?:strade|str)$/u, 'strade'],
];
/** The postal code may be separate, in the city or after the street. */
export function readStreetAddress({ street, postalCode, city }: AddressText): StreetAddress {
  const line = (street ?? '').slice(0, LONGEST);
  const withoutCare = withoutContact(line.replace(CARE_OF, ''));
  const folded = foldLetters(withoutCare === '' ? line : withoutCare).trim();
  const begin = DATE.exec(folded)?.[0].length ?? 0;
  const found = folded.slice(begin).search(/\d/u);
  const at = found === -1 ? folded.length : begin + found;
  const name = streetOf(folded.slice(0, at));
  const behind = found === -1 ? null : PLACE.exec(folded.slice(at));
  return {
    street: name,
    house: found === -1 || name === null ? null : houseOf(folded.slice(at)),
    postalCode: postal(postalCode) ?? postal(city) ?? behind?.[1] ?? null,
    city: cityOf(city ?? '') ?? cityOf(behind?.[2] ?? ''),
  };
}

/** Removes a first line that is a person: `Ole Hansen, Ringvej 1`. */
function withoutContact(line: string): string {
  const at = line.search(/[,\n]/u);
  return at > 0 && isPersonName(line.slice(0, at)) && /\d/u.test(line.slice(at)) ? line.slice(at + 1) : line;
}

/** `12-14 B, 2. tv` becomes `12b`: only the first number counts. */
function houseOf(text: string): string | null {
  const number = /^\d+/u.exec(text)?.[0] ?? '';
  // Four digits after a street are a postal code.
  if (number === '' || number.length > 3) return null;
  const rest = text.slice(number.length).replace(/^\s?-\s?\d{1,3}/u, '');
  const letter = /^\s?([a-z])(?:[^\p{L}\d]|$)/u.exec(rest)?.[1] ?? '';
  return `${Number(number)}${letter}`;
}

const postal = (text: string | null | undefined): string | null => {
  const digits = /^(?:dk[\s-]?)?(\d{4,6})/u.exec((text ?? '').trim().toLowerCase())?.[1];
  return digits?.length === 4 ? digits : null;
};

function streetOf(name: string): string | null {
  const words = (name.match(/[\p{L}\p{N}]+/gu) ?? []).map(abbreviated);
  if (words.length > 1 && words.at(-1) === 'nr') words.pop();
  const last = words.at(-1);
  if (last === undefined) return null;
  const spelling = SPELLINGS.find(([ending]) => ending.test(last));
  words[words.length - 1] = spelling === undefined ? last : last.replace(spelling[0], spelling[1]);
  return words.join('');
}

function cityOf(text: string): string | null {
  const words = foldLetters(text.slice(0, LONGEST)).match(/\p{L}{2,}/gu);
  const [first, ...rest] = words ?? [];
  if (first === undefined) return null;
  const named = first === 'dk' ? rest[0] : first;
  return named === undefined ? null : abbreviated(named);
}
