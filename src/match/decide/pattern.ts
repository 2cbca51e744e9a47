/** The pattern of a match: what agrees, what disagrees and what is missing of the first candidate, and how near others come. */
import type { WeighedCandidate } from '../evidence/score.ts';
import { EVIDENCE, type Evidence, type EvidenceGroup } from '../evidence/weights.ts';

/** What each axis may say, from what speaks most against the candidate to what speaks most for it. */
export const AXES = {
  /** `outweighed`: it bears the record's name, and another candidate has more signs. */
  kind: ['outweighed', 'ended', 'plain', 'number'],
  /**
   * `own`: the same, and no other company's; `common`: the same, of words that many names have; `group`: the record lacks a word
   * such as Holding; `sister`: the candidate lacks it, or a letter or the owner makes it another company; `none`: the record has no name; `form`: another form.
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
   * `wrong`: another country, a chain's town without a unit, or the address of another candidate; `moved`: another street of
   * the postal code. Of phone and domain `wrong` is another country's, or another candidate's.
   */
  address: ['wrong', 'elsewhere', 'moved', 'none', 'area', 'near', 'same'],
  phone: ['wrong', 'other', 'none', 'same'],
  domain: ['wrong', 'other', 'none', 'name', 'same', 'own'],
  /** How far behind the second candidate is. */
  rival: ['level', 'near', 'behind', 'far'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Axis = keyof typeof AXES;
export type Pattern = { readonly [A in Axis]: (typeof AXES)[A][number] };

/** Each sign on its axis; a sign that is not here says as much as a missing one. */
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

/** By how much the weight of the second one falls behind. */
const LEADS = { far: 25, behind: 15, near: 5 } as const;

/** What the record says of itself. */
export interface RecordName {
  /** Whether it has a name. */
  readonly isNamed: boolean;
  /** Whether its name has no word of its own. */
  readonly isCommon: boolean;
}

/** The pattern of a record's first candidate beside the others. */
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
  // Of a partial index nobody knows which names are unique.
  return signOf(first, 'uniqueness') === 'name-unique' ? 'own' : 'same';
}

function rivalOf(lead: number): Pattern['rival'] {
  if (lead < LEADS.near) return 'level';
  if (lead < LEADS.behind) return 'near';
  return lead < LEADS.far ? 'behind' : 'far';
}

function kindOf(first: WeighedCandidate, lead: number): Pattern['kind'] {
  if (lead < 0) return 'outweighed';
  if (first.ended !== null) return 'ended';
  return signOf(first, 'number') === undefined ? 'plain' : 'number';
}

const axisOf = <V>(
  candidate: WeighedCandidate,
  group: EvidenceGroup,
  values: Readonly<Partial<Record<Evidence, V>>>,
): V | undefined => {
  const sign = signOf(candidate, group);
  return sign === undefined ? undefined : values[sign];
};

/** The sign that a candidate has of a group. */
export const signOf = ({ findings }: Pick<WeighedCandidate, 'findings'>, group: EvidenceGroup): Evidence | undefined =>
  findings.find(({ sign }) => EVIDENCE[sign].group === group)?.sign;

/** Whether a candidate has a strong sign of a group. */
export const isStrong = (candidate: WeighedCandidate, group: EvidenceGroup): boolean => {
  const sign = signOf(candidate, group);
  return sign !== undefined && EVIDENCE[sign].isStrong;
};

/** The pattern as a text, by which answers are counted. */
export const patternText = ({ kind, name, address, phone, domain, rival }: Pattern): string =>
  [kind, name, address, phone, domain, rival].join(' ');
