/** Companies for tests, which state only what matters in them. */
import type { IndexEntry } from '../../src/match/describe/entry.ts';

/** An active company, or with another `company` one of its production units. */
export const entry = (number: string, name: string, rest: Partial<IndexEntry> = {}): IndexEntry => ({
  number,
  company: number,
  name,
  otherNames: [],
  formerNames: [],
  form: null,
  address: null,
  formerAddresses: [],
  phone: null,
  website: null,
  email: null,
  ended: null,
  successor: null,
  ...rest,
});

export const RINGVEJ = { street: 'Ringvej 1', postalCode: '8000', city: 'Aarhus C' };
export const HAVNEGADE = { street: 'Havnegade 12 B, 2. tv', postalCode: '5000', city: 'Odense C' };

/** A line of a company file, as docs/match.md describes it. */
export const lineOf = ({ address, formerNames, formerAddresses, ...entry }: IndexEntry): object => ({
  ...entry,
  ...address,
  formerNames: formerNames.map(({ value, until }) => ({ name: value, until })),
  formerAddresses: formerAddresses.map(({ value, until }) => ({ ...value, until })),
});
