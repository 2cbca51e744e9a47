/**
 * The pattern of a match: what agrees, disagrees or is missing in the first candidate, and how close the next one is.
 */
import type { WeighedCandidate } from '../evidence/score.ts';
import { EVIDENCE, type Evidence, type EvidenceGroup } from '../evidence/weights.ts';

/** The values of each axis, from the most against the candidate to the most for it. */
export const AXES = {
  /** `outweighed`: it has the record's name, but another candidate has more evidence. */
  kind: ['outweighed', 'ended', 'plain', 'number'],
  /**
   * `own`: the same name, which no other company has; `common`: the same, of common words; `form`: another form;
   * `group`: the record lacks a word such as Holding; `sister`: the candidate lacks it, or a letter or the owner makes
   * it another company; `none`: the record has no name.
   */
  name: [
    'other',
    'sister',
    'none',
    'group',
    'part',
    'form',
    'former',
    'spelled',
    'near',
    'alike',
    'common',
    'same',
    'own',
  ],
  /**
   * `wrong`: another country, a town where the chain has no unit, or the address of another candidate; `moved`: another
   * street of the postal code. For phone and domain `wrong` is that of another country or candidate.
   */
  address: ['wrong', 'elsewhere', 'moved', 'none', 'area', 'near', 'same'],
  phone: ['wrong', 'other', 'none', 'same'],
  domain: ['wrong', 'other', 'none', 'name', 'same', 'own'],
  /** The distance of the second candidate. */
  rival: ['level', 'near', 'behind', 'far'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Axis = keyof typeof AXES;
export type Pattern = { readonly [A in Axis]: (typeof AXES)[A][number] };

/** Evidence that is not listed counts as missing. */
const NAMES: Readonly<Partial<Record<Evidence, Pattern['name']>>> = {
  'name-same': 'same',
  'name-but-form': 'same',
  'other-name-same': 'same',
  'unit-name-same': 'same',
  'name-but-town': 'alike',
  'name-swapped': 'alike',
  'name-shortened': 'alike',
  'name-short-with-form': 'alike',
  'name-spelling': 'spelled',
  'name-but-addition': 'near',
  'former-name-same': 'former',
  'name-but-country': 'near',
  'name-other-form': 'form',
  'name-of-domain': 'alike',
  'name-short': 'part',
  'name-owner': 'alike',
  'former-name-of-group': 'sister',
  'name-of-sister': 'sister',
  'name-other-owner': 'sister',
  'name-without-group': 'group',
  'name-part': 'part',
  'name-initials': 'part',
  'name-other-word': 'sister',
};

const ADDRESSES: Readonly<Partial<Record<Evidence, Pattern['address']>>> = {
  'address-same': 'same',
  'unit-address-same': 'same',
  'address-spelling': 'near',
  'former-address-same': 'near',
  'address-other-code': 'near',
  'street-same': 'near',
  'address-crowded': 'near',
  'postal-code-same': 'area',
  'city-same': 'area',
  'street-other': 'moved',
  'address-elsewhere': 'elsewhere',
  'chain-elsewhere': 'wrong',
  'address-abroad': 'wrong',
};

const PHONES: Readonly<Partial<Record<Evidence, Pattern['phone']>>> = {
  'phone-same': 'same',
  'phone-other': 'other',
  'phone-abroad': 'wrong',
};

const DOMAINS: Readonly<Partial<Record<Evidence, Pattern['domain']>>> = {
  'domain-own': 'own',
  'domain-same': 'same',
  'domain-of-group': 'name',
  'domain-spells-name': 'name',
  'domain-other': 'other',
  'domain-abroad': 'wrong',
};

/** The least difference in weight. */
const LEADS = { far: 25, behind: 15, near: 5 } as const;

/** What the record says of itself. */
export interface RecordName {
  readonly isNamed: boolean;
  /** All words of the name are common. */
  readonly isCommon: boolean;
}

/** The pattern of the first candidate, compared with the others. */
export function patternOf(first: WeighedCandidate, others: readonly WeighedCandidate[], record: RecordName): Pattern {
  const lead = first.weight - Math.max(0, ...others.map(({ weight }) => weight));
  const isTheirs = (group: EvidenceGroup): boolean =>
    !isStrong(first, group) && others.some((one) => isStrong(one, group));
  return {
    kind: kindOf(first, lead),
    name: nameOf(first, record),
    address: isTheirs('address') ? 'wrong' : (axisOf(first, 'address', ADDRESSES) ?? 'none'),
    phone: isTheirs('phone') ? 'wrong' : (axisOf(first, 'phone', PHONES) ?? 'none'),
    domain: isTheirs('domain') ? 'wrong' : (axisOf(first, 'domain', DOMAINS) ?? 'none'),
    rival: rivalOf(lead),
  };
}

function nameOf(first: WeighedCandidate, { isNamed, isCommon }: RecordName): Pattern['name'] {
  const name = axisOf(first, 'name', NAMES) ?? (isNamed ? 'other' : 'none');
  if (name !== 'same') return name;
  if (isCommon) return 'common';
  // A partial index does not prove that a name is unique.
  return evidenceIn(first, 'uniqueness') === 'name-unique' ? 'own' : 'same';
}

function rivalOf(lead: number): Pattern['rival'] {
  if (lead < LEADS.near) return 'level';
  if (lead < LEADS.behind) return 'near';
  return lead < LEADS.far ? 'behind' : 'far';
}

function kindOf(first: WeighedCandidate, lead: number): Pattern['kind'] {
  if (lead < 0) return 'outweighed';
  if (first.ended !== null) return 'ended';
  return evidenceIn(first, 'number') === undefined ? 'plain' : 'number';
}

const axisOf = <V>(
  candidate: WeighedCandidate,
  group: EvidenceGroup,
  values: Readonly<Partial<Record<Evidence, V>>>,
): V | undefined => {
  const evidence = evidenceIn(candidate, group);
  return evidence === undefined ? undefined : values[evidence];
};

/** The evidence of a candidate in a group. */
export const evidenceIn = (
  { findings }: Pick<WeighedCandidate, 'findings'>,
  group: EvidenceGroup,
): Evidence | undefined => findings.find(({ evidence }) => EVIDENCE[evidence].group === group)?.evidence;

export const isStrong = (candidate: WeighedCandidate, group: EvidenceGroup): boolean => {
  const evidence = evidenceIn(candidate, group);
  return evidence !== undefined && EVIDENCE[evidence].isStrong;
};

/** Answers are counted by this text. */
export const patternText = ({ kind, name, address, phone, domain, rival }: Pattern): string =>
  [kind, name, address, phone, domain, rival].join(' ');
