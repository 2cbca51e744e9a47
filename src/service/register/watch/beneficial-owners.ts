/** Companies without their beneficial owners, for who has no legal basis to keep them. */
import type { Company } from '../document/company.ts';
import { FAMILIES } from '../document/families.ts';

const PARTS = FAMILIES.beneficialOwners;
const NOBODY = { members: [], at: null };

/** The same company as if no document had ever spoken of them: once they may be kept, the first said of them is no change. */
export const withoutBeneficialOwners = (company: Company): Company => {
  const unknown = company.unknown === undefined ? PARTS : [...new Set([...company.unknown, ...PARTS])];
  const bodies = { ...company.bodies, trueOwnership: NOBODY, trueVoteRights: NOBODY };
  const without: Company = { ...company, bodies, unknown };
  if (without.emptied === undefined) return without;
  const { emptied, ...rest } = without;
  const others = emptied.filter((part) => !PARTS.some((each) => each === part));
  return others.length === 0 ? rest : { ...rest, emptied: others };
};
