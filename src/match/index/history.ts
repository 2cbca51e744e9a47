/** What an entry was before: kept where the register states only what is valid now. Pure. */
import type { AddressText } from '../../protocol/danish/street-address.ts';
import type { Former, IndexEntry } from '../describe/entry.ts';

/** Of each list; a company that moves every month for years is found by the last of its addresses. */
const MOST = 20;

/** The new entry with what the one before knew of the past, and with what it replaces, until this day. */
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
