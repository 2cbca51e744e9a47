/** The address event as flat fields, as CRMs store addresses. Pure. */
import { postalTown, villageOf } from '../../protocol/danish/street-address.ts';
import type { Address } from '../../protocol/formats.ts';
import { englishCountry } from '../../protocol/text/country.ts';
import type { AssertedValue } from './assertion.ts';

const ADDRESS_FIELDS = [
  'street',
  'coName',
  'postalBox',
  'postalCode',
  'city',
  'village',
  'municipality',
  'countryCode',
  'country',
] as const;

type AddressField = (typeof ADDRESS_FIELDS)[number];

/** One assertion per address field; `before` only if the payload states the former address. */
export function addressFields(before: Address | null, after: Address | null): readonly AssertedValue[] {
  const now = flat(after);
  const was = before === null ? undefined : flat(before);
  return ADDRESS_FIELDS.map((field) => ({
    field,
    now: now[field],
    before: was?.[field],
  }));
}

function flat(address: Address | null): Readonly<Record<AddressField, string | null>> {
  const countryCode = filled(address?.countryCode)?.toUpperCase() ?? null;
  return {
    street: address === null ? null : streetOf(address),
    coName: filled(address?.coName),
    postalBox: filled(address?.postalBox),
    postalCode: address === null ? null : postalCodeOf(address),
    city: address === null ? null : postalTown(address),
    village: address === null ? null : villageOf(address),
    municipality: filled(address?.municipality?.name),
    countryCode,
    country: countryCode === null ? null : (englishCountry(countryCode) ?? null),
  };
}

const filled = (text: string | null | undefined): string | null => text?.trim() || null;

/** "Eksempelvej 4A-6, 2. tv"; addresses abroad are free text only. */
function streetOf(address: Address): string | null {
  const { houseNumberFrom, houseLetterFrom, houseNumberTo, houseLetterTo } = address;
  const street = filled(address.streetName);
  if (street === null) return filled(address.freeText);
  const from = `${houseNumberFrom ?? ''}${filled(houseLetterFrom) ?? ''}`;
  const to = `${houseNumberTo ?? ''}${filled(houseLetterTo) ?? ''}`;
  const house = to === '' || to === from ? from : `${from}-${to}`;
  const floor = filled(address.floor)?.replace(/\.$/u, '');
  const door = [floor === undefined ? '' : `${floor}.`, filled(address.sideDoor) ?? ''].filter(Boolean).join(' ');
  return [[street, house].filter(Boolean).join(' '), door].filter(Boolean).join(', ');
}

/** Four digits in Denmark: a code sent as a number lost its leading zero. */
function postalCodeOf({ postalCode, countryCode }: Address): string | null {
  const code = filled(postalCode === null ? null : String(postalCode));
  const isDanish = (filled(countryCode) ?? 'DK').toUpperCase() === 'DK';
  return code !== null && isDanish && /^\d{3}$/u.test(code) ? `0${code}` : code;
}
