/** Evidence from the domain of a website or e-mail address. */
import { isDomainAbroad } from '../describe/abroad.ts';
import type { DescribedEntry, DescribedRecord } from '../describe/described.ts';
import { labelOf } from '../describe/keys.ts';
import { isOfGroup } from '../describe/record-names.ts';
import { type Evidence, type EvidenceFinding, SHARED_BY } from './weights.ts';

/** Shorter names occur in many domains. */
const LONG_ENOUGH = 4;

type Named = Pick<DescribedRecord, 'domains' | 'name'>;

/** `sharedBy`: the number of companies with one of the domains. */
export const domainFindings = (record: Named, entry: DescribedEntry, sharedBy: number): readonly EvidenceFinding[] =>
  record.domains.flatMap((what): readonly EvidenceFinding[] => {
    const { domains, names } = entry;
    if (domains.includes(what)) return [{ evidence: sameDomain(record, entry, sharedBy), what }];
    if (isDomainAbroad(what)) return [{ evidence: 'domain-abroad', what }];
    const label = labelOf(what);
    const isName = label.length >= LONG_ENOUGH && names.some(({ read }) => read.compact === label);
    if (isName) return [{ evidence: 'domain-spells-name', what }];
    return domains.length === 0 || sharedBy > SHARED_BY ? [] : [{ evidence: 'domain-other' }];
  });

function sameDomain(record: Named, { names }: DescribedEntry, sharedBy: number): Evidence {
  if (sharedBy > SHARED_BY) return 'domain-shared';
  // A group has one domain for all its companies, and the index may hold any of them.
  const isGroups = isOfGroup(record.name.words, []) || names.some(({ read }) => isOfGroup(read.words, []));
  if (isGroups) return 'domain-of-group';
  return sharedBy === 1 ? 'domain-own' : 'domain-same';
}
