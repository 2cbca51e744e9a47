/**
 * One decision for all parts of an address: "8000" with the name of another town is an address that does not exist.
 * Pure.
 */
import { type FieldName, GROUPS } from '../../../providers/fields.ts';
import type { Policy, PresetRow, PropertyValue } from '../../../providers/provider.ts';
import { isBlank, isOneOf } from './decide.ts';
import { type Planned, RETURNED } from './planned.ts';

/** The rule of a part that waits for another part. */
export const TOGETHER = 'together';

/** A property with a part of an address: its own decision, and the evidence for or against a change. */
export interface AddressPart {
  readonly planned: Planned;
  readonly policy: Policy;
  /** The CRM's value; null also if a late write of ours replaced it. */
  readonly old: PropertyValue;
  /** Our last value and what the CRM made of it; empty if cvrsync never wrote. */
  readonly ours: readonly (PropertyValue | undefined)[];
  /** The part's value in each known register address; undefined if the property cannot hold it. */
  readonly known: readonly (PropertyValue | undefined)[];
  readonly trusted: boolean;
  readonly same: (a: PropertyValue, b: PropertyValue) => boolean;
}

const ADDRESS: ReadonlySet<FieldName> = new Set(GROUPS.address);

export const isAddressPart = (field: FieldName): boolean => ADDRESS.has(field);

/**
 * Property → address. The first property of each field forms one address, the second another; a preset names separate
 * ones.
 */
export function addressesIn(mapping: readonly PresetRow[]): ReadonlyMap<string, string> {
  const counts = new Map<FieldName, number>();
  const addresses = new Map<string, string>();
  for (const { field, property, address, unless = '' } of mapping.filter((row) => isAddressPart(row.field))) {
    const at = counts.get(field) ?? 0;
    const named = address ?? addresses.get(unless);
    addresses.set(property, named ?? String(at));
    if (named === undefined) counts.set(field, at + 1);
  }
  return addresses;
}

/** Decides the parts of one address: writes all or none. */
export function decideGroup(parts: readonly AddressPart[]): readonly Planned[] {
  const region = parts.find(isRegion);
  const members = membersOf(parts);
  const others = parts.filter((part) => !members.includes(part) && part !== region);
  const answers = decideMembers(members, region);
  const ofRegion = region === undefined || answers.some(({ field }) => field === 'region') ? [] : leftRegion(region);
  return [...answers, ...[...others, ...ofRegion].map(({ planned }) => planned)];
}

const isRegion = ({ planned }: AddressPart): boolean => planned.field === 'region';

const membersOf = (parts: readonly AddressPart[]): readonly AddressPart[] =>
  parts.filter((part) => !isRegion(part) && part.planned.rule !== 'missing');

/** The rule of an address by the register alone, as if no part were restored, held or refused. */
export function ruleOfGroup(parts: readonly AddressPart[]): GroupRule | undefined {
  const members = membersOf(parts);
  const open = members.filter((part) => !isSettled(part));
  return open.length === 0 ? undefined : ruleFor(members, open);
}

/** A region is planned alone only if it is restored, or waits for that. */
function leftRegion(region: AddressPart): readonly AddressPart[] {
  if (isPutBack(region)) return [region];
  const { planned } = region;
  return planned.overwritten === undefined
    ? []
    : [{ ...region, planned: { ...planned, action: 'skip', rule: 'held' } }];
}

function decideMembers(members: readonly AddressPart[], region: AddressPart | undefined): readonly Planned[] {
  const open = members.filter((part) => !isSettled(part) && part.planned.rule !== RETURNED);
  const leave = (cause: Planned) =>
    members.map((part) => (open.includes(part) ? leftWith(part.planned, cause) : part.planned));
  const [first] = open;
  if (first === undefined) return members.map(({ planned }) => planned);
  const held = [...members, ...(region === undefined ? [] : [region])].find(isHeld);
  if (held !== undefined) return leave({ ...held.planned, rule: 'held' });
  const back = members.filter(isPutBack).map(({ planned }) => planned);
  const cause = back.find(({ offered }) => offered !== undefined) ?? back[0];
  if (cause !== undefined) return leave(cause);
  const rule = ruleFor(members, open);
  if (rule === 'filled' || rule === 'edited') return leave({ ...first.planned, rule });
  const stuck = open.find(isStuck)?.planned;
  if (stuck !== undefined)
    return leave(stuck).map((left, at) => (members[at] && isStuck(members[at]) ? members[at].planned : left));
  const written = [...open.filter((part) => !isFixed(part)), ...clearedRegion(open, region)].map(
    ({ planned }) => planned,
  );
  const names = written.map(({ property }) => property);
  const done = written.map((planned): Planned => {
    const needs = names.filter((name) => name !== planned.property);
    const isOwn = planned.action === 'write' && planned.field !== 'region';
    return {
      ...planned,
      action: 'write',
      rule: isOwn ? planned.rule : rule,
      needs: needs.length > 0 ? needs : undefined,
    };
  });
  const others = [...members.filter((part) => !open.includes(part) || isFixed(part)), ...blankRegion(open, region)];
  return [...others.map(({ planned }) => planned), ...done];
}

/** The decision about a property that is not written because of another one in its group. */
export function leftWith({ trusts: _, ...planned }: Planned, cause: Planned): Planned {
  const { property, rule, offered, keptWith = property, detail = rule } = cause;
  if (rule === 'held') return { ...planned, ...heldBy(planned.override ?? cause.override), action: 'skip', rule };
  if (rule === 'edited' || (rule === RETURNED && offered !== undefined))
    return { ...planned, action: 'keep', rule: 'edited', keptWith };
  if (rule === 'filled' || rule === RETURNED) return { ...planned, action: 'skip', rule: 'filled' };
  const reason = `it is written together with ${property} or not at all, and that cannot be written: ${detail}`;
  return { ...planned, action: 'skip', rule: TOGETHER, detail: reason };
}

const heldBy = (override: Planned['override']): Pick<Planned, 'override'> =>
  override === undefined ? {} : { override };

/** The CRM holds the register's value, or what the CRM made of it. */
const isSettled = ({ planned }: AddressPart): boolean => planned.rule === 'same' || planned.rule === 'stored';
const isPutBack = ({ planned }: AddressPart): boolean => planned.rule === RETURNED;
export const isHeld = ({ planned }: AddressPart): boolean => planned.override?.kind === 'hold';
const isStuck = (part: AddressPart): boolean => part.planned.action === 'set-aside' && !isFixed(part);
/** It cannot be written and stays blank with any address. */
const isFixed = ({ planned, old }: AddressPart): boolean => planned.rule === 'read-only' && isBlank(old);

type GroupRule = 'edited' | 'filled' | 'released' | 'ours' | 'register' | 'trusted' | 'always' | 'blank';

function ruleFor(members: readonly AddressPart[], open: readonly AddressPart[]): GroupRule {
  if (isReleased(members, open)) return 'released';
  if (open.some(({ policy, old }) => policy === 'if-blank' && !isBlank(old))) return 'filled';
  const evidence = members.filter(isEvidence);
  if (members.every(({ old }) => isBlank(old))) return 'blank';
  if (evidence.length === 0) return 'always';
  if (agreeOnOurs(evidence)) return 'ours';
  if (agreeOnRegister(evidence)) return 'register';
  if (evidence.every((part) => part.trusted || isSettled(part))) return 'trusted';
  return evidence.some(({ policy }) => policy === 'tracked') ? 'edited' : 'filled';
}

/** A blank part, a part under `always`, and a part that a late write replaced prove nothing. */
const isEvidence = ({ old, policy, planned }: AddressPart): boolean =>
  !isBlank(old) && policy !== 'always' && planned.late?.overtook !== true;

/** A part that held the register's value already was not written by us. */
const agreeOnOurs = (evidence: readonly AddressPart[]): boolean =>
  evidence.some(isOurs) && evidence.every((part) => isOurs(part) || (!hasOurs(part) && isSettled(part)));

const hasOurs = ({ ours }: AddressPart): boolean => ours.some((value) => value !== undefined);
const isOurs = ({ old, ours, same }: AddressPart): boolean => isOneOf(old, ours, same);

/** All parts agree with the register's address, or all with the same earlier one. */
function agreeOnRegister(evidence: readonly AddressPart[]): boolean {
  if (evidence.every((part) => isSettled(part) || part.same(part.old, part.planned.now))) return true;
  const addresses = evidence[0]?.known ?? [];
  return addresses.some((_, at) =>
    evidence.every(({ old, known, same }) => {
      const value = known[at];
      return value !== undefined && same(old, value);
    }),
  );
}

/**
 * A release of one part releases the address. A release of values that a person saw counts only if it covers all parts
 * that would change.
 */
function isReleased(members: readonly AddressPart[], open: readonly AddressPart[]): boolean {
  if (members.some(({ planned }) => planned.outdated !== undefined)) return false;
  const releases = members.filter(({ planned }) => planned.override?.kind === 'release');
  if (releases.some(({ planned }) => typeof planned.override?.seen !== 'string')) return true;
  return releases.length > 0 && open.every((part) => releases.includes(part));
}

const PLACE: ReadonlySet<FieldName> = new Set(['postalCode', 'city', 'countryCode', 'country']);

const isMoved = (open: readonly AddressPart[]): boolean =>
  open.some(({ planned, old }) => PLACE.has(planned.field) && !isBlank(old));

/** The region of the former address, which the register does not state: a write of another place clears it. */
const clearedRegion = (open: readonly AddressPart[], region: AddressPart | undefined): readonly AddressPart[] => {
  const clears = region !== undefined && isMoved(open) && !isBlank(region.old) && region.planned.action !== 'set-aside';
  return clears ? [region] : [];
};

/** A region that is blank already stays so with another place: it is carried (carry.ts). */
const blankRegion = (open: readonly AddressPart[], region: AddressPart | undefined): readonly AddressPart[] =>
  region !== undefined && isMoved(open) && region.planned.rule === 'same' ? [region] : [];
