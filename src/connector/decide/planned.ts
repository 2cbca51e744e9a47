/** What is decided for one property of one record. */
import type { FieldName } from '../../../providers/fields.ts';
import type { PropertyValue } from '../../../providers/provider.ts';
import type { PendingWrite } from '../../runtime/lanes/pending-writes.ts';
import type { Override } from '../overrides/override.ts';
import type { DecisionRule } from './decide.ts';

/** What a pending write to a record holds: its properties, with what is written into each and what that replaces. */
export type PendingPatch = readonly PendingLine[];

/** In a list, since names of its parts would be half of the text. */
export type PendingLine = readonly [
  property: string,
  field: FieldName,
  old: PropertyValue,
  now: PropertyValue,
  seq: number,
];

/** A property's part in a pending write: one whose result is unknown. */
export interface Pending {
  readonly field: FieldName;
  /** What it was to replace. */
  readonly old: PropertyValue;
  readonly now: PropertyValue;
  /** What the CRM stored instead, if its history says so. */
  readonly stored?: PropertyValue;
  readonly seq: number;
  readonly from: PendingWrite;
}

/** A pending write that turns out to have arrived; `old` is what it replaced. */
export interface Late extends Pending {
  /** It came after a newer write of ours. */
  readonly overtook: boolean;
  /** What it replaced is a person's edit. */
  readonly isOverEdit: boolean;
  /** What it replaced is what an undo had put back. */
  readonly isOverUndo: boolean;
}

/** What stood in a property when a write of ours went over a person's edit of it, or of one that belongs together with it. */
export interface Overwritten {
  readonly value: PropertyValue;
  /** Whether it stood beside the edit, and is none itself. */
  readonly isBeside: boolean;
  /** Whether the CRM still holds our write. */
  readonly isOurs: boolean;
  /** Whether the CRM holds the value. */
  readonly isBack: boolean;
  /** The rule by which the value would be decided if it stood there. */
  readonly rule: DecisionRule;
}

/** The rule by which history tells of a write that turned out to have arrived. */
export const ARRIVED = 'ours-after-all';

/** The rule by which a person's edit comes back that a write of ours replaced, or what an undo had put back. */
export const RETURNED = 'returned';

/** What history says of such an edit, where the write was not late. */
export const EDIT_PUT_BACK = 'a person wrote this between our read of the record and our write';

/** The rule by which history names a value that an undo put back. */
export const UNDO = 'undo';

/** One decided property. `set-aside` is a value the CRM cannot take, `missing` and `read-only` say it of the property. */
export interface Planned {
  readonly field: FieldName;
  readonly property: string;
  readonly action: 'write' | 'skip' | 'keep' | 'set-aside';
  readonly rule: string;
  readonly old: PropertyValue;
  readonly now: PropertyValue;
  /** The receipt that brought the value. */
  readonly seq: number;
  readonly detail?: string;
  /** The override that counts for it. */
  readonly override?: Override;
  /** A release over a value that stands there no more: it ends, and counts for nothing. */
  readonly outdated?: Override;
  /** The link trusts the register for it, and the property holds the register's value once this is done. */
  readonly trusts?: true;
  /** A write with an unknown result turns out to have reached the CRM. */
  readonly late?: Late;
  /** What a write of ours went over, until it is decided whether that comes back: it waits only for the end of a hold. */
  readonly overwritten?: Overwritten;
  /** The register's value, where {@link RETURNED} writes a person's that stands as a difference from then on. */
  readonly offered?: PropertyValue;
  /** The property that stands for all that are kept together with it: they are one difference. */
  readonly keptWith?: string;
  /** Properties that it is written together with, or not at all. */
  readonly needs?: readonly string[];
  /** When a value that the CRM refused is sent again at the latest, in ms since 1970. */
  readonly retryAt?: number;
}
