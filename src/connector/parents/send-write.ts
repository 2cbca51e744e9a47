/** Sends the write of one parent under its lane's lease. */
import type { Claim } from '../../runtime/lanes/lanes.ts';
import { leaseOf } from '../../runtime/lanes/lease.ts';
import type { EndedWrite, PendingWrite } from '../../runtime/lanes/pending-writes.ts';
import type { Store } from '../../store/store.ts';
import { guardOf } from '../crm/lost-lease.ts';
import { type SendGuard, withSendGuard } from '../crm/send-guard.ts';

export interface SendDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly begun: BegunWrites;
}

export type BegunWrites = Map<string, Omit<EndedWrite, 'isOurs'>>;

/** Makes the call unless the lease was lost or the guard refuses, and stores its end. */
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
