import type { Updates } from '../../protocol/payload.ts';

/** Removes beneficial owners from updates; returns the same object if there are none. */
export const withoutBeneficialOwners = (updates: Updates): Updates => {
  const { trueOwnership, trueVoteRights, ...others } = updates;
  return trueOwnership === undefined && trueVoteRights === undefined ? updates : others;
};

/** Removes beneficial owners from changes that were found while owners were allowed, and are sent after that. */
export const withoutForbiddenOwners = (updates: Updates, beneficialOwners: boolean | undefined): Updates =>
  beneficialOwners === false ? withoutBeneficialOwners(updates) : updates;
