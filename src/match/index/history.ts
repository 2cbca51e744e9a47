/** Former values of an entry: kept because the register's document states only current ones. Pure. */
import type { AddressText } from '../../protocol/danish/street-address.ts';
import type { Former, IndexEntry } from '../describe/entry.ts';

/** For each list; the newest are kept. */
const MOST = 20;

/** Adds to the new entry the former values of the old one, and the values that it replaces, until this day. */
export function withHistory(before: IndexEntry, after: IndexEntry, day: string): IndexEntry {
  const names = before.name === after.name ? [] : [{ value: before.name, until: day }];
  const isMoved = before.address !== null && addressText(before.address) !== addressText(after.address);
  const addresses = isMoved && before.address !== null ? [{ value: before.address, until: day }] : [];
  return {
    ...after,
    formerNames: joined([after.formerNames, names, before.formerNames], (name) => name, after.name),
    formerAddresses: joined(
      [after.formerAddresses, addresses, before.formerAddresses],
      addressText,
      addressText(after.address),
    ),
  };
}

function joined<T>(
  lists: readonly (readonly Former<T>[])[],
  textOf: (value: T) => string,
  current: string,
): readonly Former<T>[] {
  const found = new Map<string, Former<T>>();
  for (const former of lists.flat()) {
    const text = textOf(former.value);
    if (text !== current && !found.has(text)) found.set(text, former);
  }
  return [...found.values()].slice(0, MOST);
}

const addressText = (address: AddressText | null): string =>
  [address?.street, address?.postalCode, address?.city].map((part) => part ?? '').join('|');
