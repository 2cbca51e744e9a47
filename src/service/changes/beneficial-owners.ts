/** Removes beneficial owners from updates that may not contain them. */
import type { Updates } from '../../protocol/payload.ts';

/** Returns the same object if there are none. */
export const withoutBeneficialOwners = (updates: Updates): Updates => {
  const { trueOwnership, trueVoteRights, ...others } = updates;
  return trueOwnership === undefined && trueVoteRights === undefined ? updates : others;
};

/** Filters updates that were found while beneficial owners were allowed and are sent later. */
export const withoutForbiddenOwners = (updates: Updates, beneficialOwners: boolean | undefined): Updates =>
  beneficialOwners === false ? withoutBeneficialOwners(updates) : updates;
