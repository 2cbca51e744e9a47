/** What is shown side by side of a record and a company, and whether it agrees. Pure. */
import type { RecordText } from '../../match/described.ts';
import type { IndexEntry } from '../../match/entry.ts';
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

/** The company's part; null if it has none. */
export function partOf(part: ShownPart, entry: IndexEntry | undefined): string | null {
  if (entry === undefined) return null;
  if (part === 'street' || part === 'postalCode' || part === 'city') return entry.address?.[part] ?? null;
  return entry[part];
}

/** Whether two spellings of one part mean the same, as far as a reader cares. */
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
