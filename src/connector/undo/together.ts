/**
 * An amount and its currency are put back together or not at all, and so are the parts of an address: one alone would be
 * another amount, or an address that is nowhere. Pure.
 */
import { isFieldName } from '../../../providers/fields.ts';
import type { PresetRow } from '../../../providers/provider.ts';
import { currencyOf } from '../decide/currency.ts';
import { addressesIn } from '../decide/group.ts';
import type { Restored, Undone } from './outcome.ts';
import type { PropertyWrites, Write } from './writes.ts';

/** What was decided for one property of a record. */
export interface DecidedProperty extends PropertyWrites {
  readonly seen: Undone | Restored;
}

/** The decisions about one record: what another property is needed for, and cannot be put back, stays too. */
export function together<D extends DecidedProperty>(record: readonly D[], areOne: AreOne): readonly D[] {
  const kept = record.map((each): D => {
    const stuck = partnersOf(each, record, areOne).find(({ seen }) => !('isDue' in seen) && !AS_BEFORE.has(seen.kind));
    if (stuck === undefined || 'isDue' in stuck.seen || !('isDue' in each.seen)) return each;
    return { ...each, seen: leftWith(stuck.seen, each.seen) };
  });
  // What stays now may be needed by others.
  if (kept.some((each, at) => each !== record[at])) return together(kept, areOne);
  return record.map((each) =>
    'isDue' in each.seen ? { ...each, seen: withNeeds(each.seen, each, { record, areOne }) } : each,
  );
}

/** It holds what it held before. */
const AS_BEFORE: ReadonlySet<Undone['kind']> = new Set(['nothing', 'undone']);

/** Whether two properties are put back together. */
type AreOne = (one: Write, other: Write) => boolean;

/** Amounts go with their currency, and the parts of an address with each other. */
export function partnersIn(mapping: readonly PresetRow[]): AreOne {
  const addresses = addressesIn(mapping);
  return (one, other) => {
    const address = addresses.get(one.property);
    return areMoney(one.field, other.field) || (address !== undefined && address === addresses.get(other.property));
  };
}

/** Whether one of two fields says the currency of the other. */
const areMoney = (one: string, other: string): boolean =>
  (isFieldName(one) && currencyOf(one) === other) || (isFieldName(other) && currencyOf(other) === one);

/** What belongs together with a property, and was written by us since the first write which is taken back. */
const partnersOf = <D extends DecidedProperty>(one: D, record: readonly D[], areOne: AreOne): readonly D[] => {
  const { seen } = one;
  if (!('isDue' in seen)) return [];
  return record.filter(
    (other) => other !== one && areOne(one.last, other.last) && other.writes.some(({ at }) => at >= seen.since),
  );
};

function leftWith(stuck: Undone, { last }: Restored): Undone {
  const { provider, record, kind, property, reason } = stuck;
  return {
    ...{ provider, record, kind, entity: last.entity, property: last.property, from: last.now },
    reason: `${property}, which it stands together with, is not put back: ${reason}`,
  };
}

const withNeeds = (
  seen: Restored,
  one: DecidedProperty,
  { record, areOne }: { readonly record: readonly DecidedProperty[]; readonly areOne: AreOne },
): Restored => ({
  ...seen,
  needs: partnersOf(one, record, areOne).flatMap((other) =>
    'isDue' in other.seen && other.seen.isDue ? [other.seen.last.property] : [],
  ),
});
