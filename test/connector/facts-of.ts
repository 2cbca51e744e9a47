/**
 * Folding statements for tests, and what two folds can be compared by.
 */
import type { FieldName, FieldValue } from '../../providers/fields.ts';
import type { Assertion } from '../../src/connector/facts/assertion.ts';
import { extract } from '../../src/connector/facts/extract.ts';
import { type Fact, factValue, fold } from '../../src/connector/facts/fact.ts';
import type { Payload } from '../../src/protocol/payload.ts';

export const ENTITY = 'CVR-1-95000001';

/** A statement with its order of arrival. */
export type Arrived = readonly [said: Assertion, seq: number];

/** The fact that statements on one field lead to, in the order given. */
export const factOf = (arrived: readonly Arrived[]): Fact | undefined =>
  arrived.reduce<Fact | undefined>((fact, [said, seq]) => fold(fact, ENTITY, said, seq).fact, undefined);

/** The facts of payloads in the order given, by field; a payload's place in the list is its `seq` if none is given. */
export const factsOf = (payloads: readonly (readonly [Payload, number])[]): ReadonlyMap<FieldName, Fact> => {
  const facts = new Map<FieldName, Fact>();
  for (const [payload, seq] of payloads)
    for (const said of extract(payload))
      facts.set(said.field, fold(facts.get(said.field), payload.entityId, said, seq).fact);
  return facts;
};

/** A field's value for CRMs; undefined if it is not known. */
export const valueIn = (facts: ReadonlyMap<FieldName, Fact>, field: FieldName): FieldValue | undefined => {
  const fact = facts.get(field);
  return fact === undefined ? undefined : factValue(fact);
};
