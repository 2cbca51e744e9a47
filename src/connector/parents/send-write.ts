/** Sends the write of one parent under the lease of its lane. */
import type { Claim } from '../../runtime/lanes/lanes.ts';
import { leaseOf } from '../../runtime/lanes/lease.ts';
import type { EndedWrite, PendingWrite } from '../../runtime/lanes/pending-writes.ts';
import type { Store } from '../../store/open.ts';
import { guardOf } from '../crm/lost-lease.ts';
import { type SendGuard, withSendGuard } from '../crm/send-guard.ts';

export interface SendDeps {
  readonly store: Store;
  readonly now: () => number;
  /** Gets the write, and how it ended. */
  readonly begun: Begun;
}

/** The writes of a run, by record, and how they ended. */
export type Begun = Map<string, Omit<EndedWrite, 'isOurs'>>;

/** Makes the call unless the lease is lost by then or the guard says no, and stores how it ended. */
export async function sendWrite<T>(
  { store, now, begun }: SendDeps,
  { claim, write, guard }: { readonly claim: Claim; readonly write: PendingWrite; readonly guard?: SendGuard },
  call: () => Promise<T>,
): Promise<T> {
  const lease = leaseOf(store, [claim], now);
  begun.set(claim.key, { write, end: 'unanswered' });
  try {
    const outcome = await withSendGuard(guardOf(lease, guard), call);
    begun.set(claim.key, { write, end: 'answered' });
    return outcome;
  } finally {
    if (lease.isUnsent) begun.set(claim.key, { write, end: 'unsent' });
  }
}
