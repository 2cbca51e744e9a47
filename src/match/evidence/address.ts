/** Evidence from the address. */
import type { StreetAddress } from '../../protocol/danish/street-address.ts';
import type { DescribedAddress, DescribedEntry } from '../describe/described.ts';
import { isWithin } from './distance.ts';
import { type Evidence, type EvidenceFinding, SHARED_ADDRESS_FROM } from './weights.ts';

/** `sharedBy`: the number of companies at the record's address. */
export function addressFindings(
  record: StreetAddress,
  { addresses }: DescribedEntry,
  sharedBy: number,
): readonly EvidenceFinding[] {
  return addresses.flatMap((address): readonly EvidenceFinding[] => {
    const evidence = evidenceOf(record, address, sharedBy > SHARED_ADDRESS_FROM);
    return evidence === undefined ? [] : [{ evidence, what: address.text, when: address.until }];
  });
}

function evidenceOf(record: StreetAddress, address: DescribedAddress, isCrowded: boolean): Evidence | undefined {
  const { kind, read } = address;
  const isStreet = isSaid(record.street, read.street) && isPlace(record, read);
  if (!isStreet || record.house === null || !isHouse(record.house, read.house))
    return kind === 'former' ? undefined : nearSign(record, read, isStreet);
  if (kind === 'former') return 'former-address-same';
  // A town may have a street name twice, and without a postal code the number of companies there is unknown.
  if (record.postalCode === null) return 'address-spelling';
  if (isCrowded) return 'address-crowded';
  return kind === 'unit' ? 'unit-address-same' : 'address-same';
}

/** A letter of difference makes shorter street names two streets. */
const LONG_ENOUGH = 6;

const isSpelledNearly = (record: StreetAddress, read: StreetAddress): boolean =>
  record.street !== null &&
  read.street !== null &&
  record.house !== null &&
  isHouse(record.house, read.house) &&
  Math.min(record.street.length, read.street.length) >= LONG_ENOUGH &&
  isWithin(record.street, read.street, 1);

/** Whether the postal codes are equal, or the towns if the record has no postal code. */
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

/** CRM records often lack the letter of a house number. */
const isHouse = (a: string, b: string | null): boolean =>
  b !== null &&
  (a === b || (a.replace(/\D/gu, '') === b.replace(/\D/gu, '') && (/^\d+$/u.test(a) || /^\d+$/u.test(b))));
