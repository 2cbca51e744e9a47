/** The dependencies of a reconcile, and the check that its claim is still held. */
import { type Claim, held } from '../../runtime/lanes/lanes.ts';
import type { Store, Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import type { WaitReport } from '../crm/patience.ts';
import type { Upstream } from '../monitoring/upstream.ts';

export interface ReconcileContext {
  readonly store: Store;
  readonly crm: Crm;
  /** Undefined without a configured service: the list of items is skipped. */
  readonly upstream: Upstream | undefined;
  readonly now: () => number;
  /** The right to reconcile this connection, for one process at a time. */
  readonly claim: Claim;
  readonly report?: (progress: ReconcileProgress) => void;
  readonly waiting?: WaitReport | undefined;
}

export interface ReconcileProgress {
  readonly reading: 'records' | 'items';
  readonly count: number;
}

/** Another process reconciles the connection: this one was away for longer than its lease. */
export class ReconcileTakenOverError extends Error {
  override readonly name = 'ReconcileTakenOverError';
}

/** Writes while the claim is held; otherwise throws {@link ReconcileTakenOverError}. */
export async function writeHeld<T>({ store, claim, crm }: ReconcileContext, work: (tx: Tx) => Promise<T>): Promise<T> {
  const done = await store.write(async (tx) => {
    const keys = await held(tx, [claim]);
    return keys.size === 0 ? undefined : { value: await work(tx) };
  });
  if (done === undefined) throw new ReconcileTakenOverError(`another process reconciles ${crm.name}: this one stops`);
  return done.value;
}
