/** Which properties of a record are put back together: one alone would be another amount, or an address that is nowhere. Pure. */
import { isFieldName } from '../../../providers/fields.ts';
import type { PresetRow, Property } from '../../../providers/provider.ts';
import { currencyOf } from './currency.ts';
import { addressesIn } from './group.ts';

/** A property, and the field that is mapped to it. */
interface Named {
  readonly field: string;
  readonly property: string;
}

/** Whether two properties of a record are put back together. */
export type ArePartners = (one: Named, other: Named) => boolean;

/** An amount goes with its currency, unless the CRM shows it with another one, and the parts of an address with each other. */
export function partnersIn(mapping: readonly PresetRow[], schema: ReadonlyMap<string, Property>): ArePartners {
  const addresses = addressesIn(mapping);
  const isIn = (amount: Named, currency: Named) =>
    isFieldName(amount.field) &&
    currencyOf(amount.field) === currency.field &&
    schema.get(amount.property)?.money !== true;
  return (one, other) => {
    const address = addresses.get(one.property);
    return isIn(one, other) || isIn(other, one) || (address !== undefined && address === addresses.get(other.property));
  };
}

/** The properties that belong together with the first ones, also by way of another; the first ones are among them. */
export function groupOf<T extends Named>(
  first: readonly T[],
  all: readonly T[],
  arePartners: ArePartners,
): readonly T[] {
  const group = new Set(first);
  // A set gives also what is added while it is gone through.
  for (const one of group) for (const other of all) if (arePartners(one, other)) group.add(other);
  return [...group];
}
