/**
 * An amount and its currency are put back together or not at all: either alone would be another amount. Pure.
 */
import { isFieldName } from '../../../providers/fields.ts';
import { currencyOf } from '../decide/currency.ts';
import type { Restored, Undone } from './outcome.ts';
import type { PropertyWrites } from './writes.ts';

/** What was decided for one property of a record. */
export interface DecidedProperty extends PropertyWrites {
  readonly seen: Undone | Restored;
}

/** The decisions about one record: what another property is needed for, and cannot be put back, stays too. */
export function together<D extends DecidedProperty>(record: readonly D[]): readonly D[] {
  const kept = record.map((each): D => {
    const stuck = partnersOf(each, record).find(({ seen }) => !('isDue' in seen) && !AS_BEFORE.has(seen.kind));
    if (stuck === undefined || 'isDue' in stuck.seen || !('isDue' in each.seen)) return each;
    return { ...each, seen: leftWith(stuck.seen, each.seen) };
  });
  // What stays now may be needed by others.
  if (kept.some((each, at) => each !== record[at])) return together(kept);
  return record.map((each) => ('isDue' in each.seen ? { ...each, seen: withNeeds(each.seen, each, record) } : each));
}

/** It holds what it held before. */
const AS_BEFORE: ReadonlySet<Undone['kind']> = new Set(['nothing', 'undone']);

/** Whether one of two fields says the currency of the other. */
export const areMoney = (one: string, other: string): boolean =>
  (isFieldName(one) && currencyOf(one) === other) || (isFieldName(other) && currencyOf(other) === one);

/** The amounts of a currency, or the currency of an amount, that we wrote since the first write which is taken back. */
const partnersOf = <D extends DecidedProperty>(one: D, record: readonly D[]): readonly D[] => {
  const { seen } = one;
  if (!('isDue' in seen)) return [];
  return record.filter(
    (other) => areMoney(one.last.field, other.last.field) && other.writes.some(({ at }) => at >= seen.since),
  );
};

function leftWith(stuck: Undone, { last }: Restored): Undone {
  const { provider, record, kind, property, reason } = stuck;
  return {
    ...{ provider, record, kind, entity: last.entity, property: last.property, from: last.now },
    reason: `${property}, which it stands together with, is not put back: ${reason}`,
  };
}

const withNeeds = (seen: Restored, one: DecidedProperty, record: readonly DecidedProperty[]): Restored => ({
  ...seen,
  needs: partnersOf(one, record).flatMap((other) =>
    'isDue' in other.seen && other.seen.isDue ? [other.seen.last.property] : [],
  ),
});
