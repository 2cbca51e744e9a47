/**
 * The keys by which a record finds its candidates: a company is a candidate if both have a key in common. A key is a
 * hash of a text and takes eight bytes; a rare collision costs one comparison.
 */
import { domainToUnicode } from 'node:url';
import type { CompanyName } from '../../protocol/danish/company-name.ts';
import { foldLetters } from '../../protocol/danish/letters.ts';
import type { StreetAddress } from '../../protocol/danish/street-address.ts';
import type { DescribedEntry, DescribedRecord } from './described.ts';

/** How much a key says alone: companies with the heaviest keys are compared first. */
export const KEY_WEIGHTS = {
  name: 5,
  phone: 5,
  domain: 4,
  address: 3,
  formerName: 3,
  word: 2,
  start: 1,
  end: 1,
} as const;
export type KeyKind = keyof typeof KEY_WEIGHTS;

/** A key and its source. */
export interface MatchKey {
  readonly kind: KeyKind;
  readonly key: number;
}

const WORDS = 6;
/** Characters at the beginning and the end that find a name with a typing error elsewhere. */
const PIECE = 7;

export const recordKeys = (record: DescribedRecord): readonly MatchKey[] =>
  unique([
    // Former names too.
    ...nameKeys(record.name, 'name'),
    ...(record.name.compact === '' ? [] : [keyOf('formerName', record.name.compact)]),
    ...record.readings.flatMap(({ read }) => nameKeys(read, 'name')),
    ...otherOrders(record.name),
    ...withTown(record),
    ...record.domains.flatMap((domain) => nameKey(labelOf(domain))),
    // Brands are known by their domains.
    ...(record.name.compact === '' ? [] : [keyOf('domain', `${record.name.compact}.dk`)]),
    ...wordKeys(record.name, [record.address]),
    ...addressKeys([record.address]),
    ...(record.phone === null ? [] : [keyOf('phone', record.phone)]),
    ...record.domains.map((domain) => keyOf('domain', domain)),
  ]);

export const entryKeys = ({ names, addresses, phone, domains }: DescribedEntry): readonly MatchKey[] =>
  unique([
    ...names.flatMap(({ kind, read }) => nameKeys(read, kind === 'former' ? 'formerName' : 'name')),
    ...names.flatMap(({ read }) =>
      wordKeys(
        read,
        addresses.map((address) => address.read),
      ),
    ),
    ...addressKeys(addresses.map(({ read }) => read)),
    ...(phone === null ? [] : [keyOf('phone', phone)]),
    ...domains.map((domain) => keyOf('domain', domain)),
  ]);

/** The compact name in a domain: `nordlysbyg` of `nordlys-byg.dk`, `blabar` of `blåbær.dk`. */
export function labelOf(domain: string): string {
  const [label = ''] = domain.split('.');
  return foldLetters(label.startsWith('xn--') ? domainToUnicode(label) : label).replaceAll('-', '');
}

/** The key of an address with a house number; undefined if a part is missing. */
export const addressKey = ({ postalCode, street, house }: StreetAddress): number | undefined =>
  postalCode === null || street === null || house === null
    ? undefined
    : keyOf('address', `${postalCode} ${street} ${house}`).key;

export const keyOf = (kind: KeyKind, text: string): MatchKey => ({ kind, key: hash(`${kind} ${text}`) });

const nameKey = (compact: string): readonly MatchKey[] => (compact === '' ? [] : [keyOf('name', compact)]);

const nameKeys = (name: CompanyName, kind: 'name' | 'formerName'): readonly MatchKey[] => {
  const { compact, owner } = name;
  if (compact === '') return [];
  const keys = [keyOf(kind, compact), keyOf('start', compact.slice(0, PIECE)), keyOf('end', compact.slice(-PIECE))];
  return owner === null ? keys : [...keys, keyOf('name', ownedName(name))];
};

/** The name and its owner, because many names are only a trade. */
export const ownedName = ({ compact, owner }: CompanyName): string => `${compact} ${owner}`;

/** Longer names are found by their address. */
const TURNED = 4;

/** The name with its first words moved to the end: `VVS Vejle` of `Vejle VVS`. */
const otherOrders = ({ words }: CompanyName): readonly MatchKey[] =>
  words.length > TURNED
    ? []
    : words.slice(1).flatMap((_, at) => nameKey([...words.slice(at + 1), ...words.slice(0, at + 1)].join('')));

/** The name with and without its town: the index may have either. */
function withTown({ name: { words, compact }, address: { city } }: DescribedRecord): readonly MatchKey[] {
  if (city === null || compact === '') return [];
  const at = words.lastIndexOf(city);
  return nameKey(at < 1 ? `${compact}${city}` : words.slice(0, at).join(''));
}

const wordKeys = ({ words }: CompanyName, addresses: readonly StreetAddress[]): readonly MatchKey[] => {
  const codes = new Set(addresses.flatMap(({ postalCode }) => postalCode ?? []));
  return words
    .slice(0, WORDS)
    .filter((word) => word.length > 1)
    .flatMap((word) => [...codes].map((code) => keyOf('word', `${code} ${word}`)));
};

const addressKeys = (addresses: readonly StreetAddress[]): readonly MatchKey[] =>
  addresses.flatMap((address) => {
    const key = addressKey(address);
    return key === undefined ? [] : [{ kind: 'address' as const, key }];
  });

const unique = (keys: readonly MatchKey[]): readonly MatchKey[] => [
  ...new Map(keys.map((one) => [one.key, one])).values(),
];

/** Cyrb53, https://github.com/bryc/code: 53 bits, which JavaScript and both engines hold exactly. */
function hash(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}
