/** Assertions: what a payload states about one field. */
import type { FieldName, Member } from '../../../providers/fields.ts';

export type Scalar = string | number | boolean | null;

/** A value of a field, now and before. `period` orders values of a month, quarter or year before their time does. */
export interface AssertedValue {
  readonly field: FieldName;
  readonly now: Scalar;
  readonly before?: Scalar | undefined;
  readonly period?: string;
  readonly figure?: AssertedFigure;
}

/**
 * The figure of a period. A later assertion about an earlier period takes the later figure back, if it names that
 * figure as the one before, or states the whole company.
 */
export interface AssertedFigure {
  readonly now: Scalar;
  readonly before: Scalar;
  readonly whole?: true;
}

/** Members that joined or left; with `whole`, `added` lists all members. */
export interface AssertedMembers {
  readonly field: FieldName;
  readonly added: readonly Member[];
  readonly removed: readonly string[];
  readonly whole?: true;
}

export type AssertedChange = AssertedValue | AssertedMembers;

/** The clock orders all assertions about one field. */
export type Assertion = AssertedChange & { readonly clock: string };

export const isMembers = <S extends AssertedChange>(assertion: S): assertion is S & AssertedMembers =>
  'added' in assertion;
