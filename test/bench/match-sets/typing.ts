/** How those who fill a CRM type what the register spells right. */
import type { RecordText } from '../../../src/match/describe/described.ts';
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import type { Random } from '../../../src/protocol/sample/random.ts';

const FORMS = /,? (?:ApS|A\/S|IVS|I\/S|K\/S|P\/S|S\.?M\.?B\.?A\.?)$/u;

/** A name without the form behind it and the owner: `Salon Hårfin v/Lone Skov` as `Salon Hårfin`. */
export const bareName = (name: string): string => name.replace(FORMS, '').replace(/ v\/.*$/u, '');

export function typedName(random: Random, name: string): string {
  if (random.chance(0.5)) return bareName(name);
  const other = random.pick([
    (form: string) => form.toUpperCase(),
    (form: string) => form.replace('/', ''),
    (form: string) => form.replace(/^ /u, ', '),
    (form: string) => form.toLowerCase(),
    (form: string) => form,
  ]);
  return name.replace(FORMS, other);
}

const PHONES = [
  (digits: string) => digits,
  (digits: string) => digits.replace(/(..)(?=.)/gu, '$1 '),
  (digits: string) => `+45${digits}`,
  (digits: string) => `+45 ${digits.replace(/(..)(?=.)/gu, '$1 ')}`,
  (digits: string) => `0045 ${digits}`,
  (digits: string) => `(+45) ${digits.slice(0, 4)} ${digits.slice(4)}`,
  (digits: string) => `${digits.slice(0, 4)}-${digits.slice(4)}`,
  (digits: string) => `Tlf. ${digits.replace(/(..)(?=.)/gu, '$1.')}`,
] as const;

export const typedPhone = (random: Random, digits: string | null): string | null =>
  digits === null ? null : random.pick(PHONES)(digits);

const ABBREVIATED: readonly (readonly [RegExp, string])[] = [
  [/gade(?= )/u, 'g.'],
  [/vej(?= )/u, 'vj.'],
  [/^Sønder(?=[a-z])/u, 'Sdr. '],
  [/^Nørre(?=[a-z])/u, 'Nr. '],
  [/^Vestre /u, 'Vstr. '],
  [/^Gammel /u, 'Gl. '],
  [/^Ndr\. /u, 'Nordre '],
  [/^Sdr\. /u, 'Søndre '],
  [/^Chr\. /u, 'Christian '],
];

/** A street without its floor, sometimes abbreviated. */
export function typedStreet(random: Random, street: string | null | undefined): string {
  const plain = (street ?? '').replace(/,.*$/u, '');
  if (random.chance(0.7)) return plain;
  const [pattern, text] = ABBREVIATED.find(([each]) => each.test(plain)) ?? [/$/u, ''];
  return plain.replace(pattern, text);
}

/** A street without its house. */
export const streetName = (street: string): string => street.replace(/ \d+[A-C]?(?:,.*)?$/u, '');

/** A town without the letters of its district: `Odense SØ` as `Odense`. */
export const withoutDistrict = (city: string): string => city.replace(/ (?:[A-ZØ]|N[VØ]|S[VØ]|Øst)$/u, '');

const TOWN_SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/^Aa/u, 'Å'],
  [/aa$/u, 'å'],
  [/^København/u, 'Kbh.'],
  [/^Kongens /u, 'Kgs. '],
  [/^Nykøbing/u, 'Nyk.'],
  [/ø/u, 'oe'],
];

function typedTown(random: Random, city: string): string {
  const town = random.chance(0.5) ? withoutDistrict(city) : city;
  const [pattern, text] = TOWN_SPELLINGS.find(([each]) => each.test(town)) ?? [/$/u, ''];
  return random.chance(0.3) ? town.replace(pattern, text) : town;
}

/** An address as it is typed; sometimes without the town or its postal code. */
export function typedPlace(random: Random, { address }: IndexEntry): RecordText {
  const lost = random.int(1, 10);
  return {
    street: typedStreet(random, address?.street),
    postalCode: lost === 1 ? null : (address?.postalCode ?? null),
    city: lost === 2 ? '' : typedTown(random, address?.city ?? ''),
    country: random.pick(['Danmark', 'DK', 'Denmark', '', null]),
  };
}

/** A record as a careful colleague types it. */
export const typedWell = (random: Random, entry: IndexEntry): RecordText => ({
  name: typedName(random, entry.name),
  ...typedPlace(random, entry),
  phone: random.chance(0.6) ? typedPhone(random, entry.phone) : null,
});

export const spelledOut = (text: string): string => text.replace(/[æøåÆØÅ]/gu, (letter) => SPELLED[letter] ?? letter);
const SPELLED: Record<string, string> = { æ: 'ae', ø: 'oe', å: 'aa', Æ: 'Ae', Ø: 'Oe', Å: 'Aa' };

const replacing = (letters: string) => (text: string) =>
  text.replace(/[æøåÆØÅ]/gu, (letter) => [...letters]['æøåÆØÅ'.indexOf(letter)] ?? '');

const ENTITIES: Record<string, string> = { æ: 'aelig', ø: 'oslash', å: 'aring', Æ: 'AElig', Å: 'Aring' };

/** What programs make of Danish letters. */
const RUINS = [
  // UTF-8 that was read as Windows-1252, once and twice.
  (text: string) => misread(text),
  (text: string) => misread(misread(text)),
  // Code page 850 that was read as Windows-1252.
  replacing('‘›†’\u009d\u008f'),
  // The seven bits of old terminals.
  replacing('{|}[\\]'),
  replacing('??????'),
  replacing('\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd'),
  replacing(''),
  replacing('aoaAOA'),
  (text: string) => text.replace(/[æøåÆØÅ]/gu, (letter) => `&${ENTITIES[letter] ?? 'Oslash'};`),
] as const;

const misread = (text: string): string => new TextDecoder('windows-1252').decode(Buffer.from(text, 'utf8'));

/** One ruin for the whole record, as one import makes it. */
export function ruined(random: Random, record: RecordText): RecordText {
  const ruin = random.pick(RUINS);
  return Object.fromEntries(
    Object.entries(record).map(([field, text]) => [field, typeof text === 'string' ? ruin(text) : text]),
  );
}

/** As an old ERP system kept it: capitals, thirty letters. */
export const asPrinted = (text: string): string => text.toUpperCase().slice(0, 30).trim();

/** One slip of the finger: two digits swapped, or one mistyped. */
export function withSlip(random: Random, digits: string): string {
  const at = random.int(1, digits.length - 2);
  const [here = '', next = ''] = [digits[at], digits[at + 1]];
  const slip = here === next ? `${here}${(Number(next) + 1) % 10}` : `${next}${here}`;
  return `${digits.slice(0, at)}${slip}${digits.slice(at + 2)}`;
}

/** The host that a company of that name takes. */
export const hostOf = (name: string): string =>
  `${spelledOut(bareName(name))
    .toLowerCase()
    .replace(/[^a-z0-9]/gu, '')
    .slice(0, 40)}.dk`;

export const typedWebsite = (random: Random, host: string): string =>
  random.pick([
    host,
    `www.${host}`,
    `https://www.${host}/`,
    `http://${host}`,
    `https://${host}/kontakt?utm_source=linkedin`,
    `WWW.${host.toUpperCase()}`,
  ]);
