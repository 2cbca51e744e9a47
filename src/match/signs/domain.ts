/** The sign of the domain of a website or an e-mail address. */
import type { DescribedEntry } from '../described.ts';
import { labelOf } from '../keys.ts';
import { SHARED_BY, type SignFinding } from '../weights.ts';

/** Shorter names stand in many domains. */
const LONG_ENOUGH = 4;

/** What the record's domains say of an entry; `sharedBy` is how many companies have one of them. */
export const domainFindings = (
  record: readonly string[],
  { domains, names }: DescribedEntry,
  sharedBy: number,
): readonly SignFinding[] =>
  record.flatMap((what): readonly SignFinding[] => {
    if (domains.includes(what)) return [{ sign: sharedBy > SHARED_BY ? 'domain-shared' : 'domain-same', what }];
    const label = labelOf(what);
    const isName = label.length >= LONG_ENOUGH && names.some(({ read }) => read.compact === label);
    if (isName) return [{ sign: 'domain-spells-name', what }];
    return domains.length === 0 || sharedBy > SHARED_BY ? [] : [{ sign: 'domain-other' }];
  });
