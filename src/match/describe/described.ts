/** A record of the CRM and an entry of the index, each taken apart once, so that they can be compared many times. */
import { passesModulus11 } from '../../protocol/cvr-number.ts';
import { type CompanyName, isForeignForm, readCompanyName } from '../../protocol/danish/company-name.ts';
import { foldLetters } from '../../protocol/danish/letters.ts';
import { internationalPhone } from '../../protocol/danish/phone.ts';
import { readStreetAddress, type StreetAddress } from '../../protocol/danish/street-address.ts';
import { companyDomain } from '../../protocol/danish/web-domain.ts';
import { isAbroad, isDomainAbroad } from './abroad.ts';
import type { Former, IndexEntry } from './entry.ts';
import { withoutNotes } from './notes-in-name.ts';
import { type NameReading, nameReadings } from './record-names.ts';

/** What a CRM record says of its company. */
type RecordPart = 'name' | 'street' | 'postalCode' | 'city' | 'country' | 'phone' | 'website' | 'email' | 'number';
export type RecordText = Readonly<Partial<Record<RecordPart, string | null | undefined>>>;

/** A record taken apart. */
export interface DescribedRecord {
  /** Its name as it is written, without what stands beside it. */
  readonly text: string;
  readonly name: CompanyName;
  /** Other readings of its name. */
  readonly readings: readonly NameReading[];
  readonly address: StreetAddress;
  /** E.164 where it is plainly one number. */
  readonly phone: string | null;
  readonly domains: readonly string[];
  /** A P-number in the place of the CVR number. */
  readonly unitNumber: string | null;
  /** Digits in the place of the CVR number that are none: seven to nine of them, or with wrong check digits. */
  readonly mistypedNumber: string | null;
  /** A CVR number that somebody wrote into the name. */
  readonly statedNumber: string | null;
  /** Whether the record says by its country or its form that it is not Danish. */
  readonly isForeign: boolean;
  /** Whether its town or postal code is another country's. */
  readonly isAbroad: boolean;
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

/** The register holds the companies of Greenland, too. */
const DANISH =
  /^(?:dk|dnk|da[nm]mark|denmark|danemark|danmark.*|.*denmark|kongeriget danmark|gl|grl|gronland|greenland|kalaallit nunat)$/u;
const UNIT_NUMBER = /^\D*(1\d{9})\D*$/u;
/** A CVR number within a name, with its label and its brackets. */
const STATED =
  /[([]?(?:(?:cvr|vat|se|dk)[\s.:-]{0,3}(?:nr|no)?[\s.:-]{0,3})?(?<!\d)(\d{2} ?\d{2} ?\d{2} ?\d{2})(?!\d)[)\]]?/iu;
/** A phone number within a name, with its label and its brackets: no part of the name, and no CVR number. */
const CALLED =
  /[([]?(?<!\p{L})(?:tlf|telefon|tel|mobil|mob|phone)[\s.:-]{0,3}(?:nr[\s.:-]{0,3})?((?:\+?45 ?)?\d{2} ?\d{2} ?\d{2} ?\d{2})(?!\d)[)\]]?/iu;
/** The address of a site in the place of the name. */
const SITE = /^\s*(?:https?:\/\/)?(?:www\.)?([\p{L}\p{N}.-]+)(\.\p{L}{2,4})\/?\s*$/iu;

export function describeRecord(record: RecordText): DescribedRecord {
  const { bare, whole, calledNumber, statedNumber, site } = takeApart(record.name ?? '');
  const name = readCompanyName(bare);
  const address = readStreetAddress({ street: record.street, postalCode: record.postalCode, city: record.city });
  const phone = phoneOf(record.phone) ?? phoneOf(calledNumber);
  const domains = domainsOf(record.website, record.email, site);
  return {
    text: bare,
    name,
    readings: [
      ...nameReadings(bare, name),
      // A name may begin with `Firma`, and end with a word that others note.
      ...(whole === bare ? [] : [{ kind: 'whole' as const, read: readCompanyName(whole) }]),
      ...(site === undefined ? [] : [{ kind: 'site' as const, read: readCompanyName(site) }]),
    ],
    address,
    phone,
    domains,
    unitNumber: UNIT_NUMBER.exec((record.number ?? '').replaceAll(/[\s.]/gu, ''))?.[1] ?? null,
    mistypedNumber: mistypedIn(record.number ?? ''),
    statedNumber,
    isForeign: isForeign(record.country, { name, phone, domains }),
    isAbroad: isAbroad(record),
  };
}

const LONGEST = 200;

function mistypedIn(text: string): string | null {
  const digits = text.replace(/^\D*/u, '').replaceAll(/[\s.]/gu, '');
  return /^\d{7,9}$/u.test(digits) && !passesModulus11(digits.padStart(8, '0')) ? digits : null;
}

/** What stands in the place of a name: the name itself, and what somebody wrote beside it or instead of it. */
function takeApart(written: string) {
  const [called, calledNumber] = CALLED.exec(written.slice(0, LONGEST)) ?? [];
  const text = called === undefined ? written : written.replace(called, ' ');
  const number = STATED.exec(text.slice(0, LONGEST))?.[1]?.replaceAll(' ', '') ?? null;
  const statedNumber = number !== null && passesModulus11(number) ? number : null;
  const [, label, ending = ''] = SITE.exec(text.slice(0, LONGEST)) ?? [];
  const whole = statedNumber === null ? (label ?? text) : text.replace(STATED, ' ');
  const { name: bare, phone } = withoutNotes(whole);
  const site = label === undefined ? undefined : `${label}${ending}`;
  return { bare, whole, calledNumber: calledNumber ?? phone, statedNumber, site };
}

/** Whether a record says by its country, its form, or by phone and domain together, that it is not Danish. */
function isForeign(
  stated: string | null | undefined,
  { name, phone, domains }: Pick<DescribedRecord, 'name' | 'phone' | 'domains'>,
): boolean {
  const country = foldLetters(stated ?? '').trim();
  if (country !== '') return !DANISH.test(country);
  const isDanishPhone = phone?.startsWith('+45') ?? false;
  if (isForeignForm(name.form)) return !isDanishPhone;
  return phone !== null && !isDanishPhone && domains.some(isDomainAbroad);
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

/** The first number in a text, as `Tlf. 12 34 56 78 / 87 65 43 21` holds two. */
const NUMBER = /(?:\+|\(\+?)?\d[\d\s().\-\u2010-\u2015]*\d/u;

/** A number of a switchboard or a mobile; what is no whole number says nothing. */
function phoneOf(spelled: string | null | undefined): string | null {
  const [number = ''] = NUMBER.exec((spelled ?? '').slice(0, 60).replace(/\(0\)/u, '')) ?? [];
  const phone = internationalPhone(number);
  return /^\+\d{7,15}$/u.test(phone) ? phone : null;
}

const domainsOf = (...spelled: readonly (string | null | undefined)[]): readonly string[] => [
  ...new Set(spelled.flatMap((one) => companyDomain(one) ?? [])),
];
