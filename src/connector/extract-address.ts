/** The address event as flat fields, as CRMs keep addresses. Pure. */
import type { Address } from '../protocol/formats.ts';
import type { ValueSaid } from './extract.ts';

const ADDRESS_FIELDS = [
  'street',
  'coName',
  'postalBox',
  'postalCode',
  'city',
  'municipality',
  'countryCode',
  'country',
] as const;

type AddressField = (typeof ADDRESS_FIELDS)[number];

/** One statement per address field; `before` only where the payload has the address before. */
export function addressFields(before: Address | null, after: Address | null): readonly ValueSaid[] {
  const now = flat(after);
  const was = before === null ? undefined : flat(before);
  return ADDRESS_FIELDS.map((field) => ({
    field,
    now: now[field],
    ...(was !== undefined && { before: was[field] }),
  }));
}

function flat(address: Address | null): Readonly<Record<AddressField, string | null>> {
  const countryCode = address?.countryCode?.toUpperCase() ?? null;
  return {
    street: address === null ? null : streetOf(address),
    coName: address?.coName ?? null,
    postalBox: address?.postalBox ?? null,
    postalCode: address === null ? null : postalCodeOf(address),
    city: address?.cityName ?? address?.postalDistrict ?? null,
    municipality: address?.municipality?.name ?? null,
    countryCode,
    country: countryCode === null ? null : countryName(countryCode),
  };
}

/** "Eksempelvej 4A-6, 2. tv"; abroad the register has free text only. */
function streetOf(address: Address): string | null {
  const { streetName, houseNumberFrom, houseLetterFrom, houseNumberTo, houseLetterTo, floor, sideDoor } = address;
  if (streetName === null) return address.freeText?.trim() || null;
  const from = `${houseNumberFrom ?? ''}${houseLetterFrom ?? ''}`;
  const to = `${houseNumberTo ?? ''}${houseLetterTo ?? ''}`;
  const house = to === '' || to === from ? from : `${from}-${to}`;
  const door = [floor === null ? '' : /^\d+$/u.test(floor) ? `${floor}.` : floor, sideDoor ?? ''].filter(Boolean).join(' ');
  return [[streetName, house].filter(Boolean).join(' '), door].filter(Boolean).join(', ');
}

/** Four digits in Denmark, where a number has lost its leading zero. */
function postalCodeOf({ postalCode, countryCode }: Address): string | null {
  if (postalCode === null) return null;
  const isDanish = countryCode === null || countryCode.toUpperCase() === 'DK';
  return isDanish ? String(postalCode).padStart(4, '0') : String(postalCode);
}

const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

function countryName(code: string): string | null {
  return /^[A-Z]{2}$/u.test(code) ? (names.of(code) ?? null) : null;
}
