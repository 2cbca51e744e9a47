/** The whole current state of a company, as it is sent on request: the difference to a company of which nothing is known. */
import type { Updates } from '../../protocol/payload.ts';
import type { Company } from './company.ts';
import { diff } from './diff.ts';
import type { DiffOptions } from './differ.ts';
import type { Bodies, Membership } from './relations.ts';

const UNTOLD = { value: null, at: null };
const NONE = { value: [], at: null };

const emptyBody: Membership = { members: [], at: null };
const emptyBodies: Bodies = {
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
  names: UNTOLD,
  altNames: NONE,
  address: UNTOLD,
  industry: UNTOLD,
  altIndustries: NONE,
  purpose: UNTOLD,
  powerToBind: UNTOLD,
  bylawsChangedDate: UNTOLD,
  capital: UNTOLD,
  form: UNTOLD,
  email: UNTOLD,
  fax: UNTOLD,
  phoneNumber: UNTOLD,
  website: UNTOLD,
  status: UNTOLD,
  credit: UNTOLD,
  life: { value: { started: null, ended: null, founded: null, registered: null }, at: null },
  bodies: emptyBodies,
  mergers: NONE,
  units: NONE,
  commercialProtection: UNTOLD,
  monthly: null,
  quarterly: null,
  yearly: null,
});

/**
 * Every event that has a value: `before` null, lists all in `added`. A merger is told where the company ended in it;
 * production units are not, their events name one at a time.
 */
export const stateOf = (company: Company, options: DiffOptions): Updates => {
  const { pUnitAdded: _, merger, ...updates } = diff(nothingOf(company), company, options);
  return merger?.dissolved === true ? { ...updates, merger } : updates;
};
