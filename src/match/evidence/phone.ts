/** Evidence from the phone number. */
import { isPhoneAbroad } from '../describe/abroad.ts';
import type { DescribedEntry } from '../describe/described.ts';
import { type EvidenceFinding, SHARED_BY } from './weights.ts';

/** `sharedBy`: the number of companies with this phone, such as the clients of one accountant. */
export function phoneFindings(
  record: string | null,
  { phone }: DescribedEntry,
  sharedBy: number,
): readonly EvidenceFinding[] {
  if (record === null) return [];
  if (record !== phone && isPhoneAbroad(record)) return [{ evidence: 'phone-abroad' }];
  if (phone === null) return [];
  if (sharedBy > SHARED_BY) return record === phone ? [{ evidence: 'phone-shared' }] : [];
  return [{ evidence: record === phone ? 'phone-same' : 'phone-other' }];
}
