/** The sign of the phone number. */
import { isPhoneAbroad } from '../describe/abroad.ts';
import type { DescribedEntry } from '../describe/described.ts';
import { type EvidenceFinding, SHARED_BY } from './weights.ts';

/** What the entry's number says of the record's; `sharedBy` is how many companies have it: an accountant's is many's. */
export function phoneFindings(
  record: string | null,
  { phone }: DescribedEntry,
  sharedBy: number,
): readonly EvidenceFinding[] {
  if (record === null) return [];
  if (record !== phone && isPhoneAbroad(record)) return [{ sign: 'phone-abroad' }];
  if (phone === null) return [];
  if (sharedBy > SHARED_BY) return record === phone ? [{ sign: 'phone-shared' }] : [];
  return [{ sign: record === phone ? 'phone-same' : 'phone-other' }];
}
