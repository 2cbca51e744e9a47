/**
 * Properties that are restored together: alone, one would give another amount, or an address that does not exist. Pure.
 */
import { isFieldName } from '../../../providers/fields.ts';
import type { PresetRow, Property } from '../../../providers/provider.ts';
import { currencyOf } from './currency.ts';
import { addressesIn } from './group.ts';

interface MappedProperty {
  readonly field: string;
  readonly property: string;
}

export type ArePartners = (one: MappedProperty, other: MappedProperty) => boolean;

/**
 * An amount belongs to its currency, unless the CRM shows it with another one; the parts of an address belong together.
 */
export function partnersIn(mapping: readonly PresetRow[], schema: ReadonlyMap<string, Property>): ArePartners {
  const addresses = addressesIn(mapping);
  const isIn = (amount: MappedProperty, currency: MappedProperty) =>
    isFieldName(amount.field) &&
    currencyOf(amount.field) === currency.field &&
    schema.get(amount.property)?.money !== true;
  return (one, other) => {
    const address = addresses.get(one.property);
    return isIn(one, other) || isIn(other, one) || (address !== undefined && address === addresses.get(other.property));
  };
}

/** The first properties and all that belong with them, also through another one. */
export function groupOf<T extends MappedProperty>(
  first: readonly T[],
  all: readonly T[],
  arePartners: ArePartners,
): readonly T[] {
  const group = new Set(first);
  // A set also iterates over what is added meanwhile.
  for (const one of group) for (const other of all) if (arePartners(one, other)) group.add(other);
  return [...group];
}
