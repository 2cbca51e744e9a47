/** What belongs together is put back together or not at all. Pure. */
import type { ArePartners } from '../decide/partners.ts';
import type { Restored, Undone } from './outcome.ts';
import type { PropertyWrites } from './writes.ts';

/** What was decided for one property of a record. */
export interface DecidedProperty extends PropertyWrites {
  readonly seen: Undone | Restored;
  /** Why its group stays though nothing of it is put back. */
  readonly changed?: Undone | undefined;
}

/** The decisions about one record: what another property is needed for, and cannot be put back, stays too. */
export function together<D extends DecidedProperty>(record: readonly D[], arePartners: ArePartners): readonly D[] {
  const kept = record.map((each): D => {
    if (!('isDue' in each.seen)) return each;
    const stuck = partnersOf(each, record, arePartners).find(
      ({ seen }) => !('isDue' in seen) && !AS_BEFORE.has(seen.kind),
    )?.seen;
    const cause =
      stuck === undefined || 'isDue' in stuck ? changedBeside(each, each.seen, { record, arePartners }) : stuck;
    return cause === undefined ? each : { ...each, seen: leftWith(cause, each.seen) };
  });
  // What stays now may be needed by others.
  if (kept.some((each, at) => each !== record[at])) return together(kept, arePartners);
  return record.map((each) =>
    'isDue' in each.seen ? { ...each, seen: withNeeds(each.seen, each, { record, arePartners }) } : each,
  );
}

/** It holds what it held before. */
const AS_BEFORE: ReadonlySet<Undone['kind']> = new Set(['nothing', 'undone']);

/** What belongs together with a property, and was written by us since the first write which is taken back. */
const partnersOf = <D extends DecidedProperty>(
  one: D,
  record: readonly D[],
  arePartners: ArePartners,
): readonly D[] => {
  const { seen } = one;
  if (!('isDue' in seen)) return [];
  return record.filter(
    (other) => other !== one && arePartners(one.last, other.last) && other.writes.some(({ at }) => at >= seen.since),
  );
};

/** A carried part of the group that is to be put back, which somebody has changed since. */
const changedBeside = (
  one: DecidedProperty,
  { since }: Restored,
  { record, arePartners }: { readonly record: readonly DecidedProperty[]; readonly arePartners: ArePartners },
): Undone | undefined =>
  record.find(
    ({ carried, changed, last }) =>
      changed !== undefined && carried !== undefined && carried.at >= since && arePartners(one.last, last),
  )?.changed;

function leftWith(stuck: Undone, { last }: Restored): Undone {
  const { provider, record, kind, property, reason } = stuck;
  return {
    ...{ provider, record, kind, entity: last.entity, property: last.property, from: last.now },
    reason: `${property}, which is written together with it, is not restored: ${reason}`,
  };
}

const withNeeds = (
  seen: Restored,
  one: DecidedProperty,
  { record, arePartners }: { readonly record: readonly DecidedProperty[]; readonly arePartners: ArePartners },
): Restored => ({
  ...seen,
  needs: partnersOf(one, record, arePartners).flatMap((other) =>
    'isDue' in other.seen && other.seen.isDue ? [other.seen.last.property] : [],
  ),
});
