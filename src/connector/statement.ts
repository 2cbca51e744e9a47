/** Statements: what a payload says about one field. */
import type { FieldName, Member } from '../../providers/fields.ts';

export type Scalar = string | number | boolean | null;

/** A value the register has (and had) for a field. `period` orders what belongs to a month, quarter or year before its time. */
export interface ValueSaid {
  readonly field: FieldName;
  readonly now: Scalar;
  readonly before?: Scalar;
  readonly period?: string;
}

/** Members that joined, left, or (`whole`) are all there are. */
export interface MembersSaid {
  readonly field: FieldName;
  readonly added: readonly Member[];
  readonly removed: readonly string[];
  readonly whole?: true;
}

export type Said = ValueSaid | MembersSaid;

/** A statement about one field with the clock that orders it among all statements on that field. */
export type Statement = Said & { readonly clock: string };

export const isMembers = <S extends Said>(said: S): said is S & MembersSaid => 'added' in said;
