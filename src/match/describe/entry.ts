/** What the company index holds about a company or production unit. */
import type { AddressText } from '../../protocol/danish/street-address.ts';

/** A former value; `until` is an ISO 8601 day, or null if unknown. */
export interface Former<T> {
  readonly value: T;
  readonly until: string | null;
}

export interface IndexEntry {
  /** The CVR number of a company or the P-number of a production unit. */
  readonly number: string;
  /** The CVR number of the company itself, or of the unit's company. */
  readonly company: string;
  readonly name: string;
  readonly otherNames: readonly string[];
  readonly formerNames: readonly Former<string>[];
  /** The short name of the form, such as `ApS`. */
  readonly form: string | null;
  readonly address: AddressText | null;
  readonly formerAddresses: readonly Former<AddressText>[];
  readonly phone: string | null;
  readonly website: string | null;
  readonly email: string | null;
  /** The day it ended; null while active. */
  readonly ended: string | null;
  /** The CVR number of the company that took it over, if known. */
  readonly successor: string | null;
}
