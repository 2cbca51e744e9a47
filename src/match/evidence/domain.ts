/** The sign of the domain of a website or an e-mail address. */
import { isDomainAbroad } from '../describe/abroad.ts';
import type { DescribedEntry, DescribedRecord } from '../describe/described.ts';
import { labelOf } from '../describe/keys.ts';
import { isOfGroup } from '../describe/record-names.ts';
import { type Evidence, type EvidenceFinding, SHARED_BY } from './weights.ts';

/** Shorter names stand in many domains. */
const LONG_ENOUGH = 4;

type Named = Pick<DescribedRecord, 'domains' | 'name'>;

/** What the record's domains say of an entry; `sharedBy` is how many companies have one of them. */
export const domainFindings = (record: Named, entry: DescribedEntry, sharedBy: number): readonly EvidenceFinding[] =>
  record.domains.flatMap((what): readonly EvidenceFinding[] => {
    const { domains, names } = entry;
    if (domains.includes(what)) return [{ sign: sameSign(record, entry, sharedBy), what }];
    if (isDomainAbroad(what)) return [{ sign: 'domain-abroad', what }];
    const label = labelOf(what);
    const isName = label.length >= LONG_ENOUGH && names.some(({ read }) => read.compact === label);
    if (isName) return [{ sign: 'domain-spells-name', what }];
    return domains.length === 0 || sharedBy > SHARED_BY ? [] : [{ sign: 'domain-other' }];
  });

function sameSign(record: Named, { names }: DescribedEntry, sharedBy: number): Evidence {
  if (sharedBy > SHARED_BY) return 'domain-shared';
  // A group has one domain, whichever of its companies the index holds.
  const isGroups = isOfGroup(record.name.words, []) || names.some(({ read }) => isOfGroup(read.words, []));
  if (isGroups) return 'domain-of-group';
  return sharedBy === 1 ? 'domain-own' : 'domain-same';
}
