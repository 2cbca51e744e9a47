/** The parts of a record and a company shown next to each other, and whether they agree. Pure. */
import type { RecordText } from '../../match/describe/described.ts';
import type { IndexEntry } from '../../match/describe/entry.ts';
import { foldLetters } from '../../protocol/danish/letters.ts';
import { internationalPhone } from '../../protocol/danish/phone.ts';
import { companyDomain } from '../../protocol/danish/web-domain.ts';

export const SHOWN_PARTS = [
  'name',
  'street',
  'postalCode',
  'city',
  'phone',
  'website',
  'email',
] as const satisfies readonly (keyof RecordText)[];
export type ShownPart = (typeof SHOWN_PARTS)[number];

export function partOf(part: ShownPart, entry: IndexEntry | undefined): string | null {
  if (entry === undefined) return null;
  if (part === 'street' || part === 'postalCode' || part === 'city') return entry.address?.[part] ?? null;
  return entry[part];
}

export function agrees(part: ShownPart, own: string, value: string): boolean {
  switch (part) {
    case 'phone':
      return internationalPhone(own) === internationalPhone(value);
    case 'website':
    case 'email':
      return (companyDomain(own) ?? folded(own)) === (companyDomain(value) ?? folded(value));
    default:
      return folded(own) === folded(value);
  }
}

const folded = (text: string): string =>
  foldLetters(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
