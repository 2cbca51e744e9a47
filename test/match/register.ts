/**
 * A labelled register: invented companies with the distributions that make matching hard. One seed makes one register.
 *
 * Of a hundred times that somebody founds companies: 8 make a group (the company, its holding and its property company at one address, often with one
 * phone and one domain), 6 a franchise (one name in several towns, a company each), 2 a chain (one company, a production unit
 * in each of several towns), 10 sole proprietors with their name behind `v/`, 2 have a name of two letters, 2 hand name
 * and business to a new company at their address and go on as its holding, 3 have a sister whose name is a letter away. Of all companies
 * a fifth have moved, an eighth were called otherwise, an eighth have ended; of those that ended a third live on in a successor of
 * the same name, and some former names belong to another company today. A tenth sit in an office hotel of hundreds, a
 * twentieth give the phone of their accountant.
 */

import type { IndexEntry } from '../../src/match/describe/entry.ts';
import { type Random, randomFrom } from '../../src/protocol/sample/random.ts';
import * as words from './words.ts';

type Address = NonNullable<IndexEntry['address']>;
type Kind = 'plain' | 'group' | 'franchise' | 'chain' | 'owner' | 'two-letters' | 'spun-off' | 'near-sister';

/** A company of the register, with what the records are labelled by. */
export interface LabelledCompany {
  readonly kind: Kind;
  readonly main: IndexEntry;
  readonly units: readonly IndexEntry[];
  readonly isCrowded: boolean;
  readonly hasAccountantsPhone: boolean;
  /** Another company that has a former name of this one today. */
  readonly reusedBy: string | null;
  /** A company at its address whose name is a letter away. */
  readonly sister: { readonly name: string; readonly isMissing: boolean } | null;
}

export interface LabelledRegister {
  readonly companies: readonly LabelledCompany[];
  readonly entries: readonly IndexEntry[];
}

interface Making {
  readonly random: Random;
  readonly hotels: readonly [Address, ...Address[]];
  readonly accountants: readonly [string, ...string[]];
  next: number;
  nextUnit: number;
}

/** Makes a register of about so many companies; `after` is how many numbers of companies and units are given already. */
export function labelledRegister(seed: number, size: number, after = 0): LabelledRegister {
  const random = randomFrom(seed);
  const hotels = Math.max(1, Math.round(size / 3_000));
  const making: Making = {
    random,
    hotels: [addressOf(random), ...Array.from({ length: hotels }, () => addressOf(random))],
    accountants: [phoneOf(random), ...Array.from({ length: Math.ceil(size / 800) }, () => phoneOf(random))],
    next: 10_000_000 + after,
    nextUnit: 1_000_000_000 + after * 2,
  };
  const companies: LabelledCompany[] = [];
  while (companies.length < size) companies.push(...found(making));
  const all = withReusedNames(making, companies);
  return { companies: all, entries: all.flatMap(({ main, units }) => [main, ...units]) };
}

function found(making: Making): readonly LabelledCompany[] {
  const { random } = making;
  const share = random.int(1, 100);
  if (share <= 8) return group(making);
  if (share <= 14) return franchise(making);
  if (share <= 16) return [chain(making)];
  if (share <= 26) return [owner(making)];
  if (share <= 28) return [twoLetters(making)];
  if (share <= 30) return spunOff(making);
  if (share <= 33) return nearSisters(making);
  const one = company(making, 'plain', { name: `${stem(random)}${formEnd(random)}` });
  return one.main.ended !== null && random.chance(0.33) ? succeeded(making, one) : [one];
}

export const stem = (random: Random): string => {
  const place = `${random.pick(words.BEGINNINGS)}${random.pick(words.ENDINGS)}`;
  const share = random.int(1, 100);
  if (share <= 50) return `${place} ${random.pick(words.TRADES)}`;
  if (share <= 62) return `${random.pick(words.SURNAMES)} & Søn ${random.pick(words.TRADES)}`;
  if (share <= 72)
    return `${random.pick(words.GIVEN_NAMES)} ${random.pick(words.SURNAMES)} ${random.pick(words.TRADES)}`;
  if (share <= 80) return `${place} ${random.pick(words.TRADES)} Danmark`;
  if (share <= 86)
    return `${random.pick(['Sønder', 'Nørre', 'Vester', 'Gammel'])} ${place} ${random.pick(words.TRADES)}`;
  if (share <= 92) return `${place} ${random.pick(words.TRADES)} og ${random.pick(words.TRADES)}`;
  return place;
};

const FORMS = [
  ' ApS',
  ' ApS',
  ' ApS',
  ' ApS',
  ' A/S',
  ' A/S',
  ' I/S',
  ' IVS',
  ' K/S',
  ' P/S',
  ' A.M.B.A.',
  '',
] as const;
const formEnd = (random: Random): string => random.pick(FORMS);

const slug = (name: string): string =>
  name
    .replace(/(?: v\/.*| ApS| [AIKP]\/S| IVS| A\.M\.B\.A\.)$/u, '')
    .toLowerCase()
    .replaceAll('æ', 'ae')
    .replaceAll('ø', 'oe')
    .replaceAll('å', 'aa')
    .replaceAll(/[^a-z\d]/gu, '')
    .slice(0, 30);

const phoneOf = (random: Random): string => String(random.int(20_000_000, 98_999_999));

export function addressOf(random: Random, town = random.pick(words.TOWNS)): Address {
  const street = random.chance(0.15) ? random.pick(words.TWO_WORD_STREETS) : random.pick(words.STREETS);
  const letter = random.chance(0.15) ? random.pick(['A', 'B', 'C']) : '';
  const floor = random.chance(0.3) ? `, ${random.pick(['st.', '1.', '2.', '3.'])} ${random.pick(['th', 'tv'])}` : '';
  return { street: `${street} ${random.int(1, 160)}${letter}${floor}`, ...town };
}

const day = (random: Random, from: number): string =>
  `${random.int(from, 2025)}-0${random.int(1, 9)}-1${random.int(0, 9)}`;

interface Given {
  readonly name: string;
  readonly address?: Address;
  readonly phone?: string | null;
  readonly domain?: string | null;
  readonly isActive?: boolean;
}

function company(making: Making, kind: Kind, given: Given): LabelledCompany {
  const { random, hotels, accountants } = making;
  const number = String(making.next++);
  const isCrowded = given.address === undefined && random.chance(0.1);
  const hasAccountantsPhone = given.phone === undefined && random.chance(0.05);
  const ownPhone = hasAccountantsPhone ? random.pick(accountants) : some(random, 0.7, phoneOf(random));
  const ownDomain = `${slug(given.name)}${random.chance(0.2) ? number.slice(-2) : ''}.dk`;
  const address = given.address ?? (isCrowded ? random.pick(hotels) : addressOf(random));
  const otherName = (): string => `${stem(random)}${formEnd(random)}`;
  const main: IndexEntry = {
    number,
    company: number,
    name: given.name,
    otherNames: random.chance(0.12) ? [otherName()] : [],
    formerNames: random.chance(0.125) ? [{ value: otherName(), until: day(random, 2008) }] : [],
    form: null,
    address,
    formerAddresses: random.chance(0.2) ? [{ value: addressOf(random), until: day(random, 2008) }] : [],
    phone: given.phone === undefined ? ownPhone : given.phone,
    ...onTheNet(random, given.name, given.domain === undefined ? ownDomain : given.domain),
    ended: given.isActive === true ? null : some(random, 0.125, day(random, 2015)),
    successor: null,
  };
  const units = [unit(making, main, { name: main.name, address })];
  return { kind, main, units, isCrowded, hasAccountantsPhone, reusedBy: null, sister: null };
}

const some = <T>(random: Random, share: number, value: T): T | null => (random.chance(share) ? value : null);

function onTheNet(random: Random, name: string, domain: string | null): Pick<IndexEntry, 'website' | 'email'> {
  const free = `${slug(name).slice(0, 12)}@${random.pick(words.FREEMAIL)}`;
  const email = domain !== null && random.chance(0.7) ? `kontakt@${domain}` : free;
  return { website: domain === null ? null : some(random, 0.5, `www.${domain}`), email: some(random, 0.6, email) };
}

const unit = (
  making: Making,
  main: IndexEntry,
  { name, address }: { readonly name: string; readonly address: Address },
): IndexEntry => ({
  number: String(making.nextUnit++),
  company: main.number,
  name,
  otherNames: [],
  formerNames: [],
  form: null,
  address,
  formerAddresses: [],
  phone: making.random.chance(0.3) ? phoneOf(making.random) : null,
  website: null,
  email: null,
  ended: null,
  successor: null,
});

function group(making: Making): readonly LabelledCompany[] {
  const { random } = making;
  const name = stem(random);
  const address = addressOf(random);
  const phone = random.chance(0.7) ? phoneOf(random) : null;
  const domain = random.chance(0.7) ? `${slug(name)}.dk` : null;
  return ['', ' Holding', ' Ejendomme'].map((part) =>
    company(making, 'group', {
      name: `${name}${part}${random.chance(0.3) ? ' A/S' : ' ApS'}`,
      address,
      phone,
      domain,
      isActive: true,
    }),
  );
}

function franchise(making: Making): readonly LabelledCompany[] {
  const { random } = making;
  const name = `${random.pick(words.BEGINNINGS)}${random.pick(words.ENDINGS)} ${random.pick(words.TRADES)}`;
  return Array.from({ length: random.int(3, 8) }, () =>
    company(making, 'franchise', {
      name: `${name}${random.pick([' ApS', ' ApS', ' I/S'])}`,
      domain: random.chance(0.5) ? `${slug(name)}.dk` : null,
    }),
  );
}

function chain(making: Making): LabelledCompany {
  const { random } = making;
  const made = company(making, 'chain', { name: `${stem(random)} A/S`, isActive: true });
  const brand = made.main.name.replace(' A/S', '');
  const units = Array.from({ length: random.int(5, 40) }, () => {
    const town = random.pick(words.TOWNS);
    return unit(making, made.main, {
      name: `${brand}${random.chance(0.5) ? ` ${town.city}` : ''}`,
      address: addressOf(random, town),
    });
  });
  return { ...made, units: [...made.units, ...units] };
}

function owner(making: Making): LabelledCompany {
  const { random } = making;
  const name = `${random.pick(words.BEGINNINGS)}${random.pick(words.ENDINGS)} ${random.pick(words.TRADES)} v/${random.chance(0.5) ? ' ' : ''}${random.pick(words.GIVEN_NAMES)} ${random.pick(words.SURNAMES)}`;
  return company(making, 'owner', { name });
}

function twoLetters(making: Making): LabelledCompany {
  const { random } = making;
  const letter = (): string => 'ABCDEFGHIJKLMNOPRSTUVØ'.charAt(random.int(0, 21));
  return company(making, 'two-letters', {
    name: `${letter()}${letter()}${random.pick([' A/S', ' ApS'])}`,
    domain: null,
  });
}

/** The old number becomes the holding; a new company takes its name, its address and often its phone. */
function spunOff(making: Making): readonly LabelledCompany[] {
  const { random } = making;
  const name = `${stem(random)} ApS`;
  const old = company(making, 'spun-off', { name: name.replace(/ ApS$/u, ' Holding ApS'), isActive: true });
  const former = { value: name, until: day(random, 2015) };
  const { address, phone } = old.main;
  const heir = company(making, 'spun-off', {
    name,
    ...(address !== null && { address }),
    phone: random.chance(0.5) ? phone : phoneOf(random),
    isActive: true,
  });
  return [{ ...old, main: { ...old.main, formerNames: [former] }, reusedBy: heir.main.number }, heir];
}

/** Two companies of one address, or the first alone: the register of a user may lack the other. */
function nearSisters(making: Making): readonly LabelledCompany[] {
  const { random } = making;
  const pair = random.pick(words.NEAR_WORDS);
  const end = `${random.pick(words.SURNAMES)} ${random.pick([...words.TRADES, 'Holding', 'Invest'])} ApS`;
  const [one, other] = [`${pair[0]} ${end}`, `${pair[1]} ${end}`];
  const shared = {
    address: addressOf(random),
    isActive: true,
    ...(random.chance(0.4) && { phone: phoneOf(random) }),
  };
  const isMissing = random.chance(0.5);
  const made = (name: string, sister: string): LabelledCompany => ({
    ...company(making, 'near-sister', { ...shared, name }),
    sister: { name: sister, isMissing },
  });
  return isMissing ? [made(one, other)] : [made(one, other), made(other, one)];
}

/** A company that ended, and the one that took it over, under its name and at its address. */
function succeeded(making: Making, ended: LabelledCompany): readonly LabelledCompany[] {
  const { name, address, phone } = ended.main;
  const successor = company(making, 'plain', {
    name,
    ...(address !== null && { address }),
    phone,
    domain: null,
    isActive: true,
  });
  return [{ ...ended, main: { ...ended.main, successor: successor.main.number } }, successor];
}

/** Some take a name that another gave up. */
function withReusedNames(making: Making, companies: readonly LabelledCompany[]): readonly LabelledCompany[] {
  const added: LabelledCompany[] = [];
  const all = companies.map((one) => {
    const [former] = one.main.formerNames;
    if (former === undefined || one.reusedBy !== null || !making.random.chance(0.1)) return one;
    const other = company(making, 'plain', { name: former.value, isActive: true });
    added.push(other);
    return { ...one, reusedBy: other.main.number };
  });
  return [...all, ...added];
}
