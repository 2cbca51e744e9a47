/** A company register in the making: hands out numbers and names that occur once, and spells what a person types. */
import type { RecordText } from '../../../src/match/describe/described.ts';
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import { passesModulus11 } from '../../../src/protocol/cvr-number.ts';
import type { AddressText } from '../../../src/protocol/danish/street-address.ts';
import { type Random, randomFrom } from '../../../src/protocol/sample/random.ts';
import { STREETS, TOWNS, type Town } from './town-words.ts';

type Draft = Partial<IndexEntry> & Pick<IndexEntry, 'name'>;

export interface RegisterDraft {
  readonly random: Random;
  /** Adds a company. */
  add(draft: Draft): IndexEntry;
  /** Adds a production unit of a company. */
  addUnit(company: string, draft: Draft): IndexEntry;
  /** A phone number that no other company has. */
  phone(): string;
  /** Takes a name, in one town or everywhere; false if it is taken. */
  reserve(name: string, town?: Town): boolean;
  /** How many companies and units there are. */
  size(): number;
  /** All companies and units, by number. */
  entries(): readonly IndexEntry[];
}

export const FORMS = ['ApS', 'ApS', 'ApS', 'A/S', 'I/S', 'Enkeltmandsvirksomhed'] as const;

const EMPTY = {
  otherNames: [],
  formerNames: [],
  form: null,
  address: null,
  formerAddresses: [],
  phone: null,
  website: null,
  email: null,
  ended: null,
  successor: null,
};

export function newRegister(seed: number): RegisterDraft {
  const random = randomFrom(seed);
  const used = new Set<string>();
  const all = new Map<string, IndexEntry>();
  const unused = (make: () => string): string => {
    for (;;) {
      const text = make();
      if (!used.has(text)) {
        used.add(text);
        return text;
      }
    }
  };
  const cvr = (): string => {
    let number = random.int(10_000_100, 44_000_000);
    while (!passesModulus11(String(number)) || used.has(String(number))) number++;
    used.add(String(number));
    return String(number);
  };
  const added = (entry: IndexEntry): IndexEntry => {
    all.set(entry.number, entry);
    return entry;
  };
  return {
    random,
    add(draft) {
      const number = cvr();
      return added({ ...EMPTY, number, company: number, ...draft });
    },
    addUnit: (company, draft) =>
      added({ ...EMPTY, number: unused(() => String(1_003_000_000 + random.int(0, 25_000_000))), company, ...draft }),
    phone: () => unused(() => `${random.pick(['2', '4', '5', '6', '7', '8', '9'])}${random.int(1_000_000, 9_999_999)}`),
    reserve(name, town) {
      const key = `${name.toLowerCase()}|${town?.name ?? ''}`;
      const isFree = !used.has(key);
      used.add(key);
      return isFree;
    },
    size: () => all.size,
    entries: () => [...all.values()].sort((a, b) => (a.number < b.number ? -1 : 1)),
  };
}

export const streetIn = (random: Random, streets: readonly [string, ...string[]] = STREETS): string =>
  `${random.pick(streets)} ${random.int(1, 140)}${random.chance(0.15) ? random.pick(['A', 'B', 'C']) : ''}`;

export const addressIn = (random: Random, { postalCode, name }: Town, street = streetIn(random)): AddressText => ({
  street,
  postalCode,
  city: name,
});

/** `Jensens`, `Friis'`. */
export const genitive = (name: string): string => (name.endsWith('s') ? `${name}'` : `${name}s`);

/** Another town than these. */
export function otherTown(random: Random, ...towns: readonly Town[]): Town {
  const town = random.pick(TOWNS);
  return towns.includes(town) ? otherTown(random, ...towns) : town;
}

export const domainOf = (name: string): string =>
  `${name
    .toLowerCase()
    .replaceAll('æ', 'ae')
    .replaceAll('ø', 'oe')
    .replaceAll('å', 'aa')
    .normalize('NFD')
    .replace(/[^a-z0-9]/g, '')}.dk`;

const COUNTRIES = ['Danmark', 'DK', 'Denmark', null, null] as const;

/** An address as a sales rep types it. */
export function typedAddress(random: Random, address: AddressText): RecordText {
  const street = address.street ?? '';
  const spelled = random.pick([street, street, street, street.toLowerCase(), `${street}, st.`, `${street}, 1. tv.`]);
  const country = random.pick(COUNTRIES);
  const city = random.chance(0.1) ? address.city?.toUpperCase() : address.city;
  return { street: spelled, postalCode: address.postalCode, city, ...(country === null ? {} : { country }) };
}

export const typedPhone = (random: Random, phone: string): string => {
  const pairs = phone.replace(/(?=(?:..)+$)(?!^)/g, ' ');
  return random.pick([phone, pairs, `+45 ${pairs}`, `+45${phone}`, `${phone.slice(0, 4)} ${phone.slice(4)}`]);
};

/** A domain as a website or an e-mail address. */
export const typedDomain = (random: Random, domain: string): RecordText =>
  random.pick<RecordText>([
    { website: domain },
    { website: `www.${domain}` },
    { website: `https://www.${domain}/` },
    { email: `info@${domain}` },
    { email: `${random.pick(['kontakt', 'mail', 'salg', 'jh', 'bogholderi'])}@${domain}` },
  ]);
