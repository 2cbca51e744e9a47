/** What is remembered of one property of one record, for the next decision about it. */
import type { PropertyValue } from '../../../providers/provider.ts';
import type { Pending } from './planned.ts';

export interface PropertyMemory {
  /** What we wrote last; undefined if we never wrote. */
  readonly written: PropertyValue | undefined;
  /** What the CRM stored instead, if it differs. */
  readonly stored: PropertyValue | undefined;
  readonly writtenAt: number;
  /**
   * Set if we wrote it in a gap, a time of which the store knows nothing: facts of receipts up to this one are older than
   * the value.
   */
  readonly aheadOf?: number;
  /** What the last undo restored, as the CRM stored it; looked up only if writes are pending. */
  readonly restored: { readonly value: PropertyValue; readonly at: number } | undefined;
  /** A value that was set aside. */
  readonly refused: RefusedValue | undefined;
  /** Whether the register's word was taken for it under a link that trusts the register. */
  readonly trusted: boolean;
  /** The difference that was left to a person, as JSON; `with` names the property that stands for it. */
  readonly kept: { readonly crm: string; readonly now: string; readonly with?: string } | undefined;
  /**
   * A person's edit that a write of ours went over between our read and that write, and what the CRM held of the write then,
   * where that is neither what we wrote last nor what the CRM made of it. `beside`: no edit, but what stood beside one in its
   * group, and was written with it.
   */
  readonly overwritten:
    | { readonly value: PropertyValue; readonly by?: PropertyValue; readonly beside?: true }
    | undefined;
  /** Writes that nobody knows the end of, oldest first. */
  readonly pending: readonly Pending[];
}

export interface RefusedValue {
  /** JSON. */
  readonly value: string;
  readonly reason: string;
  /** Set while it is not sent again, because the CRM refused it under this schema. */
  readonly aside?: { readonly schema: string; readonly until: number };
}
