/** Companies without their beneficial owners, for who has no legal basis to keep them. */
import type { Company } from '../document/company.ts';
import { FAMILIES } from '../document/families.ts';

const PARTS = FAMILIES.beneficialOwners;
const NOBODY = { members: [], at: null };

/** The same company as if no document had ever spoken of them: once they may be kept, the first said of them is no change. */
export const withoutBeneficialOwners = (company: Company): Company => {
  const { emptied, ...rest } = company;
  const isOther = (part: string): boolean => !PARTS.some((each) => each === part);
  const unknown = [...new Set([...(company.unknown ?? []), ...PARTS])];
  const others = emptied?.filter(isOther) ?? [];
  const bodies = { ...company.bodies, trueOwnership: NOBODY, trueVoteRights: NOBODY };
  return { ...rest, bodies, unknown, ...(others.length > 0 && { emptied: others }) };
};
