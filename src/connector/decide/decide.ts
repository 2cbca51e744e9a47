/** decide: the rule for one property of one record. The table stands in docs/mapping.md. */
import type { Policy, PropertyValue } from '../../../providers/provider.ts';

/** Everything a decision may look at, as property values. */
export interface Inputs {
  /** What the CRM holds. */
  readonly crm: PropertyValue;
  /** What the register says now. */
  readonly now: PropertyValue;
  /** Every value the register is known to have had, in any order. */
  readonly known: readonly PropertyValue[];
  /** What we wrote last; undefined if we never wrote. */
  readonly last: PropertyValue | undefined;
  /** What the CRM stored instead, if it differs: the CRM trimmed the value, or one of its workflows changed it. */
  readonly stored?: PropertyValue | undefined;
  /** Whether what the CRM holds is an older write of ours that arrived after a newer one. */
  readonly overtaken?: boolean;
  /** Whether we wrote last what a later event said than the one that `now` is of, which the store has lost. */
  readonly isAhead?: boolean;
  readonly policy: Policy;
  /** The override of this property, which counts more than the policy; undefined if there is none. */
  readonly override: 'release' | 'hold' | undefined;
  /** Whether the register still wins once for a property whose author is unknown. */
  readonly trusted: boolean;
  /** Equality after normalising. */
  readonly same: (a: PropertyValue, b: PropertyValue) => boolean;
}

/** The rule that decided, by name: history and `explain` show it. */
export type DecisionRule =
  | 'same' // the CRM holds the value already
  | 'stored' // the CRM holds what it made of the value, or a value of ours from a later event that the store has lost
  | 'held' // a hold: nothing is written
  | 'never' // the policy says so
  | 'released' // a release: the register wins
  | 'blank' // the CRM is blank
  | 'always' // the policy overwrites
  | 'ours' // the CRM holds what we wrote last, or what it made of that
  | 'register' // the CRM holds an earlier register value
  | 'filled' // if-blank, and it is not
  | 'trusted' // somebody changed it before the link, which trusts the register once
  | 'edited'; // a person changed it

export interface Decision {
  readonly action: 'write' | 'skip' | 'keep';
  readonly rule: DecisionRule;
}

/** Decides one property; pure and total. `keep` is a person's edit that stays until it is released. */
export function decide(inputs: Inputs): Decision {
  const { crm, now, known, last, stored, overtaken, isAhead, policy, override, trusted, same } = inputs;
  if (same(crm, now)) return { action: 'skip', rule: 'same' };
  if (override === 'hold') return { action: 'skip', rule: 'held' };
  if (policy === 'never') return { action: 'skip', rule: 'never' };
  const isOurs = isOneOf(crm, [last, stored], same);
  // Written again, the value would end as it stands: without end under `always`.
  if (isOurs && (isAhead === true || isOneOf(now, [last], same))) return { action: 'skip', rule: 'stored' };
  if (isBlank(crm)) return { action: 'write', rule: 'blank' };
  if (policy === 'always') return { action: 'write', rule: 'always' };
  if (override === 'release') return { action: 'write', rule: 'released' };
  if (overtaken === true) return { action: 'write', rule: 'ours' };
  if (policy === 'if-blank') return { action: 'skip', rule: 'filled' };
  if (isOurs) return { action: 'write', rule: 'ours' };
  if (isOneOf(crm, known, same)) return { action: 'write', rule: 'register' };
  return trusted ? { action: 'write', rule: 'trusted' } : { action: 'keep', rule: 'edited' };
}

/** Whether a value is one of those that are known. */
export const isOneOf = (
  value: PropertyValue,
  known: readonly (PropertyValue | undefined)[],
  same: Inputs['same'],
): boolean => known.some((each) => each !== undefined && same(value, each));

/** Blank in any CRM's spelling: null, nothing, or white space only. */
export const isBlank = (value: PropertyValue): boolean =>
  value === null || (typeof value === 'string' && value.trim() === '');
