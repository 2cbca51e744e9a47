/** What cvrsync remembers of one property of one record for the next decision. */
import type { PropertyValue } from '../../../providers/provider.ts';
import type { Pending } from './planned.ts';

export interface PropertyMemory {
  /** Undefined: cvrsync never wrote. */
  readonly written: PropertyValue | undefined;
  readonly stored: PropertyValue | undefined;
  readonly writtenAt: number;
  /**
   * Set for a write in a gap, a period that the store lost: facts of receipts up to this one are older than the value.
   */
  readonly aheadOf?: number;
  /** The value that the last undo restored, as the CRM stored it; read only if writes are pending. */
  readonly restored: { readonly value: PropertyValue; readonly at: number } | undefined;
  readonly refused: RefusedValue | undefined;
  /** Whether the register already won once under a link that trusts it. */
  readonly trusted: boolean;
  /** The difference that waits for a person, as JSON; `with` names the property that represents it. */
  readonly kept: { readonly crm: string; readonly now: string; readonly with?: string | undefined } | undefined;
  /**
   * A person's edit that our write replaced between read and write. `by`: what the CRM then held, if it is neither our
   * last value nor what the CRM made of it. `beside`: the value is not an edit; it stood in the same group and was
   * replaced with it.
   */
  readonly overwritten:
    | { readonly value: PropertyValue; readonly by?: PropertyValue; readonly beside?: true | undefined }
    | undefined;
  /** Writes without a known result, oldest first. */
  readonly pending: readonly Pending[];
}

export interface RefusedValue {
  readonly value: string;
  readonly reason: string;
  /** Set while the value is not sent again, because the CRM refused it under this schema. */
  readonly aside?: { readonly schema: string; readonly until: number };
}
