/** What the company index holds of a company or of one of its production units. */
import type { AddressText } from '../../protocol/danish/street-address.ts';

/** What was valid once; `until` is a day (ISO 8601) or null where it is not known. */
export interface Former<T> {
  readonly value: T;
  readonly until: string | null;
}

export interface IndexEntry {
  /** The CVR number of a company, the P-number of a production unit. */
  readonly number: string;
  /** The CVR number of the company that it is, or belongs to. */
  readonly company: string;
  readonly name: string;
  readonly otherNames: readonly string[];
  readonly formerNames: readonly Former<string>[];
  /** The form's short name, as `ApS`. */
  readonly form: string | null;
  readonly address: AddressText | null;
  readonly formerAddresses: readonly Former<AddressText>[];
  readonly phone: string | null;
  readonly website: string | null;
  readonly email: string | null;
  /** The day it ended; null while it is active. */
  readonly ended: string | null;
  /** The CVR number of the company that took it over, where known. */
  readonly successor: string | null;
}
