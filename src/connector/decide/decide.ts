/** The decision about one property of one record. The table stands in docs/mapping.md. */
import type { Policy, PropertyValue } from '../../../providers/provider.ts';

export interface Inputs {
  readonly crm: PropertyValue;
  readonly now: PropertyValue;
  readonly known: readonly PropertyValue[];
  /** Undefined: cvrsync never wrote. */
  readonly last: PropertyValue | undefined;
  /** The value that the CRM stored instead: it trimmed ours, or a workflow changed it. */
  readonly stored?: PropertyValue | undefined;
  /** Whether the CRM holds an older write of ours that arrived after a newer one. */
  readonly overtaken?: boolean;
  /** Whether our last write came from a later event than `now`, an event that the store has lost. */
  readonly isAhead?: boolean;
  readonly policy: Policy;
  /** Takes precedence over the policy. */
  readonly override: 'release' | 'hold' | undefined;
  /** Whether the register still wins once, because the author of the value is unknown. */
  readonly trusted: boolean;
  readonly same: (a: PropertyValue, b: PropertyValue) => boolean;
}

/** The rule that decided. History and `explain` show it. */
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

/** Decides one property. `keep`: a person's edit stays until it is released. Pure. */
export function decide(inputs: Inputs): Decision {
  const { crm, now, known, last, stored, overtaken, isAhead, policy, override, trusted, same } = inputs;
  if (same(crm, now)) return { action: 'skip', rule: 'same' };
  if (override === 'hold') return { action: 'skip', rule: 'held' };
  if (policy === 'never') return { action: 'skip', rule: 'never' };
  const isOurs = isOneOf(crm, [last, stored], same);
  // A second write would end the same way, without end under `always`.
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

export const isOneOf = (
  value: PropertyValue,
  known: readonly (PropertyValue | undefined)[],
  same: Inputs['same'],
): boolean => known.some((each) => each !== undefined && same(value, each));

/** Blank in any CRM: null, empty or white space. */
export const isBlank = (value: PropertyValue): boolean =>
  value === null || (typeof value === 'string' && value.trim() === '');
