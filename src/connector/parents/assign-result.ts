/** The result of assigning a parent, and how the store remembers it. */
import type { Claim, Settlement } from '../../runtime/lanes/lanes.ts';
import { endWrites, type PendingWrite } from '../../runtime/lanes/pending-writes.ts';
import type { Tx } from '../../store/store.ts';
import { markContested } from '../follow/safety-limit.ts';
import { type Happened, writeHistory } from '../history/history.ts';

export interface AssignResult {
  readonly claim: Claim;
  readonly settlement: Settlement;
  readonly happened?: Happened;
  /** The parent that is ours now; unchanged if absent. */
  readonly given?: string | null;
  /** A record that was deleted, merged, or has another company's number: its link is decided. */
  readonly astray?: string;
  readonly shown?: readonly PendingWrite[];
}

export async function recordResults(
  tx: Tx,
  provider: string,
  results: readonly AssignResult[],
  now: number,
): Promise<void> {
  const astray = results.flatMap(({ astray }) => astray ?? []);
  // In one transaction with the settlement: a link decided earlier would wake nothing.
  await markContested(tx, provider, astray, now);
  for (const { claim, given } of results)
    if (given !== undefined) await rememberParent(tx, provider, claim.key, { parent_id: given, pending_id: null });
  await endWrites(
    tx,
    results.flatMap(({ shown = [] }) => shown),
  );
  await writeHistory(
    tx,
    [],
    results.flatMap(({ happened }) => happened ?? []),
    now,
  );
}

export async function rememberParent(
  tx: Tx,
  provider: string,
  id: string,
  to: { readonly parent_id?: string | null; readonly pending_id: string | null },
): Promise<void> {
  await tx.updateTable('parent').set(to).where('provider', '=', provider).where('record_id', '=', id).execute();
}
