import type { Updates } from '../../../protocol/payload.ts';
import type { Company } from '../document/company.ts';
import type { Membership, RelationBodies } from '../document/relations.ts';
import { diff } from './diff.ts';
import type { DiffOptions } from './differ.ts';

const UNSTATED = { value: null, at: null };
const NONE = { value: [], at: null };

const emptyBody: Membership = { members: [], at: null };
const emptyBodies: RelationBodies = {
  ownership: emptyBody,
  trueOwnership: emptyBody,
  trueVoteRights: emptyBody,
  accountant: emptyBody,
  board: emptyBody,
  management: emptyBody,
  stakeholders: emptyBody,
  founders: emptyBody,
};

const nothingOf = (company: Company): Company => ({
  ...company,
  names: UNSTATED,
  altNames: NONE,
  address: UNSTATED,
  industry: UNSTATED,
  altIndustries: NONE,
  purpose: UNSTATED,
  powerToBind: UNSTATED,
  bylawsChangedDate: UNSTATED,
  capital: UNSTATED,
  form: UNSTATED,
  email: UNSTATED,
  fax: UNSTATED,
  phoneNumber: UNSTATED,
  website: UNSTATED,
  status: UNSTATED,
  credit: UNSTATED,
  life: { value: { started: null, ended: null, founded: null, registered: null }, at: null },
  bodies: emptyBodies,
  mergers: NONE,
  units: NONE,
  commercialProtection: UNSTATED,
  monthly: null,
  quarterly: null,
  yearly: null,
});

/** The lists that the register states as empty; leaves out lists that no document ever mentioned. */
const emptyListsOf = ({ emptied = [] }: Company): Updates => {
  const isStated = (list: string): boolean => emptied.includes(list);
  const none = { added: [], removed: [] };
  const nobody = { ...none, changed: [] };
  return {
    ...(isStated('altNames') && { altNames: none }),
    ...(isStated('altIndustries') && { altIndustries: none }),
    ...(isStated('ownership') && { ownership: nobody }),
    ...(isStated('trueOwnership') && { trueOwnership: nobody }),
    ...(isStated('trueVoteRights') && { trueVoteRights: nobody }),
    ...(isStated('accountant') && { accountant: none }),
    ...(isStated('board') && { board: none }),
    ...(isStated('management') && { management: none }),
    ...(isStated('stakeholders') && { stakeholders: none }),
  };
};

/**
 * The whole current state of a company: its difference from an unknown company. Every event with a value: `before` is
 * null, and lists are in `added`. Includes a merger only if the company ended in it, and no production units, whose
 * events name one at a time.
 */
export const stateOf = (company: Company, options: DiffOptions): Updates => {
  const { pUnitAdded: _, merger, ...updates } = diff(nothingOf(company), company, options);
  const all = { ...emptyListsOf(company), ...updates };
  return merger?.dissolved === true ? { ...all, merger } : all;
};
