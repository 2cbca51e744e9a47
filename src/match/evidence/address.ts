/** The sign of the address. */
import type { StreetAddress } from '../../protocol/danish/street-address.ts';
import type { DescribedAddress, DescribedEntry } from '../describe/described.ts';
import { isWithin } from './distance.ts';
import { type Evidence, type EvidenceFinding, SHARED_ADDRESS_FROM } from './weights.ts';

/** What the entry's addresses say of the record's; `sharedBy` is how many companies have the record's address. */
export function addressFindings(
  record: StreetAddress,
  { addresses }: DescribedEntry,
  sharedBy: number,
): readonly EvidenceFinding[] {
  return addresses.flatMap((address): readonly EvidenceFinding[] => {
    const sign = signOf(record, address, sharedBy > SHARED_ADDRESS_FROM);
    return sign === undefined ? [] : [{ sign, what: address.text, when: address.until }];
  });
}

function signOf(record: StreetAddress, address: DescribedAddress, isCrowded: boolean): Evidence | undefined {
  const { kind, read } = address;
  const isStreet = isSaid(record.street, read.street) && isPlace(record, read);
  if (!isStreet || record.house === null || !isHouse(record.house, read.house))
    return kind === 'former' ? undefined : nearSign(record, read, isStreet);
  if (kind === 'former') return 'former-address-same';
  // A town has some streets twice, and how many companies share the address is known by its postal code.
  if (record.postalCode === null) return 'address-spelling';
  if (isCrowded) return 'address-crowded';
  return kind === 'unit' ? 'unit-address-same' : 'address-same';
}

/** Shorter streets that differ in a letter are two streets. */
const LONG_ENOUGH = 6;

const isSpelledNearly = (record: StreetAddress, read: StreetAddress): boolean =>
  record.street !== null &&
  read.street !== null &&
  record.house !== null &&
  isHouse(record.house, read.house) &&
  Math.min(record.street.length, read.street.length) >= LONG_ENOUGH &&
  isWithin(record.street, read.street, 1);

/** Whether the postal codes are equal, or the towns where the record has no postal code. */
const isPlace = (record: StreetAddress, read: StreetAddress): boolean =>
  record.postalCode === null ? isSaid(record.city, read.city) : record.postalCode === read.postalCode;

function nearSign(record: StreetAddress, read: StreetAddress, isStreet: boolean): Evidence | undefined {
  if (isStreet) return 'street-same';
  if (isSaid(record.postalCode, read.postalCode)) {
    if (isSpelledNearly(record, read)) return 'address-spelling';
    return record.street === null || read.street === null ? 'postal-code-same' : 'street-other';
  }
  if (isSaid(record.street, read.street) && record.house !== null && isHouse(record.house, read.house))
    return 'address-other-code';
  if (isSaid(record.city, read.city)) return 'city-same';
  return record.postalCode !== null && read.postalCode !== null ? 'address-elsewhere' : undefined;
}

const isSaid = (a: string | null, b: string | null): boolean => a !== null && a === b;

/** A CRM often leaves out the letter of a house. */
const isHouse = (a: string, b: string | null): boolean =>
  b !== null &&
  (a === b || (a.replace(/\D/gu, '') === b.replace(/\D/gu, '') && (/^\d+$/u.test(a) || /^\d+$/u.test(b))));
