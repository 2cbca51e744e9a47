/** What is told to who may not be told of beneficial owners. */
import type { Updates } from '../../protocol/payload.ts';

/** The same updates without beneficial owners; the same object where there are none. */
export const withoutBeneficialOwners = (updates: Updates): Updates => {
  const { trueOwnership, trueVoteRights, ...others } = updates;
  return trueOwnership === undefined && trueVoteRights === undefined ? updates : others;
};

/** What may be told of updates that were found when beneficial owners might be told, and that wait since. */
export const stillTellable = (updates: Updates, beneficialOwners: boolean | undefined): Updates =>
  beneficialOwners === false ? withoutBeneficialOwners(updates) : updates;
