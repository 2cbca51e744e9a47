/** Parses a CRM record and an index entry once, so that they can be compared many times. */
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

/** What a CRM record says about its company. */
type RecordPart = 'name' | 'street' | 'postalCode' | 'city' | 'country' | 'phone' | 'website' | 'email' | 'number';
export type RecordText = Readonly<Partial<Record<RecordPart, string | null | undefined>>>;

/** A parsed record. */
export interface DescribedRecord {
  /** The name as written, without notes. */
  readonly text: string;
  readonly name: CompanyName;
  readonly readings: readonly NameReading[];
  readonly address: StreetAddress;
  /** E.164; null unless it is plainly one number. */
  readonly phone: string | null;
  readonly domains: readonly string[];
  /** A P-number in the field of the CVR number. */
  readonly unitNumber: string | null;
  /** Seven to nine digits in the field of the CVR number that are not valid, such as wrong check digits. */
  readonly mistypedNumber: string | null;
  /** A CVR number in the name. */
  readonly statedNumber: string | null;
  /** The country or the company form says that the company is not Danish. */
  readonly isForeign: boolean;
  /** The town or postal code belongs to another country. */
  readonly isAbroad: boolean;
}

export interface DescribedName {
  readonly kind: 'main' | 'other' | 'unit' | 'former';
  readonly text: string;
  readonly until: string | null;
  readonly read: CompanyName;
}

export interface DescribedAddress {
  readonly kind: 'main' | 'unit' | 'former';
  readonly text: string;
  readonly until: string | null;
  readonly read: StreetAddress;
}

/** A parsed index entry. */
export interface DescribedEntry {
  readonly entry: IndexEntry;
  readonly names: readonly DescribedName[];
  readonly addresses: readonly DescribedAddress[];
  readonly phone: string | null;
  readonly domains: readonly string[];
}

/** Includes Greenland, whose companies are in the register. */
const DANISH =
  /^(?:dk|dnk|da[nm]mark|denmark|danemark|danmark.*|.*denmark|kongeriget danmark|gl|grl|gronland|greenland|kalaallit nunat)$/u;
const UNIT_NUMBER = /^\D*(1\d{9})\D*$/u;
/** A CVR number within a name, with its label and brackets. */
const STATED =
  /[([]?(?:(?:cvr|vat|se|dk)[\s.:-]{0,3}(?:nr|no)?[\s.:-]{0,3})?(?<!\d)(\d{2} ?\d{2} ?\d{2} ?\d{2})(?!\d)[)\]]?/iu;
/** A phone number within a name, with its label and brackets: neither part of the name nor a CVR number. */
const CALLED =
  /[([]?(?<!\p{L})(?:tlf|telefon|tel|mobil|mob|phone)[\s.:-]{0,3}(?:nr[\s.:-]{0,3})?((?:\+?45 ?)?\d{2} ?\d{2} ?\d{2} ?\d{2})(?!\d)[)\]]?/iu;
/** A web address in the field of the name. */
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
      // A company's real name may begin with `Firma` or end with a word that others write as a note.
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

/** Splits the field of the name into the name, what was written next to it, and what was written instead of it. */
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

/** Whether the country, the form, or phone and domain together say that the company is not Danish. */
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

/** The first number of a text: `Tlf. 12 34 56 78 / 87 65 43 21` holds two. */
const NUMBER = /(?:\+|\(\+?)?\d[\d\s().\-\u2010-\u2015]*\d/u;

/** Null unless it is a whole number of a switchboard or mobile. */
function phoneOf(spelled: string | null | undefined): string | null {
  const [number = ''] = NUMBER.exec((spelled ?? '').slice(0, 60).replace(/\(0\)/u, '')) ?? [];
  const phone = internationalPhone(number);
  return /^\+\d{7,15}$/u.test(phone) ? phone : null;
}

const domainsOf = (...spelled: readonly (string | null | undefined)[]): readonly string[] => [
  ...new Set(spelled.flatMap((one) => companyDomain(one) ?? [])),
];
