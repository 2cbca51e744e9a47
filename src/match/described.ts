/** A record of the CRM and an entry of the index, each taken apart once, so that they can be compared many times. */
import { type CompanyName, isForeignForm, readCompanyName } from '../protocol/danish/company-name.ts';
import { foldLetters } from '../protocol/danish/letters.ts';
import { internationalPhone } from '../protocol/danish/phone.ts';
import { readStreetAddress, type StreetAddress } from '../protocol/danish/street-address.ts';
import { companyDomain } from '../protocol/danish/web-domain.ts';
import type { Former, IndexEntry } from './entry.ts';

/** What a CRM record says of its company. */
type RecordPart = 'name' | 'street' | 'postalCode' | 'city' | 'country' | 'phone' | 'website' | 'email' | 'number';
export type RecordText = Readonly<Partial<Record<RecordPart, string | null | undefined>>>;

/** A record taken apart. */
export interface DescribedRecord {
  readonly name: CompanyName;
  readonly address: StreetAddress;
  /** E.164 where it is plainly one number. */
  readonly phone: string | null;
  readonly domains: readonly string[];
  /** A P-number in the place of the CVR number. */
  readonly unitNumber: string | null;
  /** Whether the record says by its country or its form that it is not Danish. */
  readonly isForeign: boolean;
}

/** A name of an entry; `kind` says what it is to the company. */
export interface DescribedName {
  readonly kind: 'main' | 'other' | 'unit' | 'former';
  readonly text: string;
  readonly until: string | null;
  readonly read: CompanyName;
}

/** An address of an entry. */
export interface DescribedAddress {
  readonly kind: 'main' | 'unit' | 'former';
  readonly text: string;
  readonly until: string | null;
  readonly read: StreetAddress;
}

/** An entry taken apart. */
export interface DescribedEntry {
  readonly entry: IndexEntry;
  readonly names: readonly DescribedName[];
  readonly addresses: readonly DescribedAddress[];
  readonly phone: string | null;
  readonly domains: readonly string[];
}

const DANISH = /^(?:dk|dnk|da[nm]mark|denmark|danemark|danmark.*|.*denmark|kongeriget danmark)$/u;
const UNIT_NUMBER = /^\D*(1\d{9})\D*$/u;

export function describeRecord(record: RecordText): DescribedRecord {
  const name = readCompanyName(record.name ?? '');
  const country = foldLetters(record.country ?? '').trim();
  const address = readStreetAddress({ street: record.street, postalCode: record.postalCode, city: record.city });
  const phone = phoneOf(record.phone);
  const isAbroad = country !== '' && !DANISH.test(country);
  const hasDanishSign = DANISH.test(country) || (phone?.startsWith('+45') ?? false);
  return {
    name,
    address,
    phone,
    domains: domainsOf(record.website, record.email),
    unitNumber: UNIT_NUMBER.exec((record.number ?? '').replaceAll(/[\s.]/gu, ''))?.[1] ?? null,
    isForeign: isAbroad || (isForeignForm(name.form) && !hasDanishSign),
  };
}

export function describeEntry(entry: IndexEntry): DescribedEntry {
  const kind = isUnit(entry) ? 'unit' : 'main';
  const nameOf = (of: DescribedName['kind'], text: string, until: string | null = null): DescribedName => ({
    kind: of,
    text,
    until,
    read: readCompanyName(text),
  });
  return {
    entry,
    names: [
      nameOf(kind, entry.name),
      ...entry.otherNames.map((text) => nameOf('other', text)),
      ...entry.formerNames.map(({ value, until }) => nameOf('former', value, until)),
    ],
    addresses: [
      ...(entry.address === null ? [] : [addressOf(kind, { value: entry.address, until: null })]),
      ...entry.formerAddresses.map((former) => addressOf('former', former)),
    ],
    phone: phoneOf(entry.phone),
    domains: domainsOf(entry.website, entry.email),
  };
}

/** Whether an entry is a production unit. */
const isUnit = ({ number, company }: Pick<IndexEntry, 'number' | 'company'>): boolean => number !== company;

const addressOf = (
  kind: DescribedAddress['kind'],
  { value, until }: Former<NonNullable<IndexEntry['address']>>,
): DescribedAddress => ({
  kind,
  text: [value.street, [value.postalCode, value.city].filter(Boolean).join(' ')].filter(Boolean).join(', '),
  until,
  read: readStreetAddress(value),
});

/** A number of a switchboard or a mobile; what is no whole number says nothing. */
function phoneOf(spelled: string | null | undefined): string | null {
  const plain = (spelled ?? '').replace(/^\s*(?:tlf|tel|telefon|mob|mobil|phone)\.?:?\s*/iu, '').replace(/\(0\)/u, '');
  const phone = internationalPhone(plain.slice(0, 60));
  return /^\+\d{7,15}$/u.test(phone) ? phone : null;
}

const domainsOf = (...spelled: readonly (string | null | undefined)[]): readonly string[] => [
  ...new Set(spelled.flatMap((one) => companyDomain(one) ?? [])),
];
