/** What is told to who may not be told of beneficial owners. */
import type { Updates } from '../../protocol/payload.ts';

/** The same updates without beneficial owners; the same object where there are none. */
export const withoutBeneficialOwners = (updates: Updates): Updates => {
  const { trueOwnership, trueVoteRights, ...others } = updates;
  return trueOwnership === undefined && trueVoteRights === undefined ? updates : others;
};
