/** The decision for one property of one record. */
import type { FieldName } from '../../../providers/fields.ts';
import type { PropertyValue } from '../../../providers/provider.ts';
import type { PendingWrite } from '../../runtime/lanes/pending-writes.ts';
import type { Override } from '../overrides/override.ts';
import type { DecisionRule } from './decide.ts';

/** The properties of a pending write, with the old and new values. */
export type PendingPatch = readonly PendingLine[];

/** A list, since member names would be half of the stored text. */
export type PendingLine = readonly [
  property: string,
  field: FieldName,
  old: PropertyValue,
  now: PropertyValue,
  seq: number,
  /** See {@link Planned.carried}. */
  isCarried?: true,
];

/** One property of a write whose result is unknown. */
export interface Pending {
  readonly field: FieldName;
  readonly old: PropertyValue;
  readonly now: PropertyValue;
  /** The value that the CRM stored, if its history says so. */
  readonly stored?: PropertyValue;
  readonly seq: number;
  readonly from: PendingWrite;
}

/** A pending write that turns out to have arrived; `old` is the value that it replaced. */
export interface Late extends Pending {
  /** It arrived after a newer write of ours. */
  readonly overtook: boolean;
  /** It replaced a person's edit. */
  readonly isOverEdit: boolean;
  /** It replaced a value that an undo had restored. */
  readonly isOverUndo: boolean;
}

/** A value that our write replaced: a person's edit, or a value in the same group. */
export interface Overwritten {
  readonly value: PropertyValue;
  readonly isBeside: boolean;
  readonly isOurs: boolean;
  /** The CRM holds the value again. */
  readonly isBack: boolean;
  readonly rule: DecisionRule;
}

/** The rule of a write that turned out to have arrived. */
export const ARRIVED = 'ours-after-all';

/** The rule that restores a person's edit, or a value restored by an undo, after our write replaced it. */
export const RETURNED = 'returned';

/** The reason in history, if the write was not late. */
export const EDIT_PUT_BACK = 'a person wrote this between our read of the record and our write';

export const UNDO = 'undo';

/** `set-aside`: the CRM cannot take the value; `missing` and `read-only` concern the property. */
export interface Planned {
  readonly field: FieldName;
  readonly property: string;
  readonly action: 'write' | 'skip' | 'keep' | 'set-aside';
  readonly rule: string;
  readonly old: PropertyValue;
  readonly now: PropertyValue;
  readonly seq: number;
  readonly detail?: string;
  readonly override?: Override | undefined;
  /** A release of a value that has changed: it ends without an effect. */
  readonly outdated?: Override | undefined;
  /** The link trusts the register, and the property will hold the register's value. */
  readonly trusts?: true | undefined;
  readonly late?: Late | undefined;
  /** The value that our write replaced, until it is restored or not; only a hold delays that. */
  readonly overwritten?: Overwritten;
  /** The register's value if {@link RETURNED} writes a person's, which differs from then on. */
  readonly offered?: PropertyValue | undefined;
  /** The property that represents all properties of one difference. */
  readonly keptWith?: string | undefined;
  readonly needs?: readonly string[] | undefined;
  /** What is sent along, so that an edit of this property amid the write shows; undefined if nothing is (carry.ts). */
  readonly carried?: PropertyValue | undefined;
  /** The latest time at which a refused value is sent again. */
  readonly retryAt?: number;
}
