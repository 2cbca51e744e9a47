/** The sign of the phone number. */
import type { DescribedEntry } from '../described.ts';
import { SHARED_BY, type SignFinding } from '../weights.ts';

/** Whether the entry has the record's number; `sharedBy` is how many companies have it: an accountant's is many's. */
export const phoneFindings = (
  record: string | null,
  { phone }: DescribedEntry,
  sharedBy: number,
): readonly SignFinding[] =>
  record === null || record !== phone ? [] : [{ sign: sharedBy > SHARED_BY ? 'phone-shared' : 'phone-same' }];
