/** Statements: what a payload says about one field. */
import type { FieldName, Member } from '../../../providers/fields.ts';

export type Scalar = string | number | boolean | null;

/** A value the register has (and had) for a field. `period` orders what belongs to a month, quarter or year before its time. */
export interface AssertedValue {
  readonly field: FieldName;
  readonly now: Scalar;
  readonly before?: Scalar;
  readonly period?: string;
  readonly figure?: AssertedFigure;
}

/**
 * The figure of a period that a field belongs to. A later statement of an earlier period that names the figure held now as
 * the one before, or that states the whole company, takes the later period's figure back.
 */
export interface AssertedFigure {
  readonly now: Scalar;
  readonly before: Scalar;
  /** The payload states the whole company. */
  readonly whole?: true;
}

/** Members that joined, left, or (`whole`) are all there are. */
export interface AssertedMembers {
  readonly field: FieldName;
  readonly added: readonly Member[];
  readonly removed: readonly string[];
  readonly whole?: true;
}

export type AssertedChange = AssertedValue | AssertedMembers;

/** A statement about one field with the clock that orders it among all statements on that field. */
export type Assertion = AssertedChange & { readonly clock: string };

export const isMembers = <S extends AssertedChange>(assertion: S): assertion is S & AssertedMembers =>
  'added' in assertion;
