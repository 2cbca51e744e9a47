/** Sends one link's desired state to the monitoring service at once, as the daemon would, and returns the result. */
import { findLink, type Link } from '../../connector/links/links.ts';
import { dueCall, monitorLinks } from '../../connector/monitoring/monitoring.ts';
import { linkKey, MONITORING_QUEUE, type RecordRef } from '../../connector/names/queues.ts';
import { claim, settleAll } from '../../runtime/lanes/lanes.ts';
import { pause } from '../../runtime/limits/pause.ts';
import type { Store } from '../../store/store.ts';
import type { MonitoringContext } from '../arguments/with-monitoring.ts';

/** How long a person waits for one call. */
const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 100;

/** `waiting`: the desired state is stored, but not confirmed; `reason` says why, if known. */
export type CallState =
  | { readonly kind: 'confirmed'; readonly link: Link }
  | { readonly kind: 'refused'; readonly link: Link; readonly reason: string }
  | { readonly kind: 'waiting'; readonly link: Link; readonly reason: string | null };

/** Makes the call that the link waits for. If a daemon is making it, waits for that call instead. */
export async function confirmMonitoring(
  { store, upstream }: Pick<MonitoringContext, 'store' | 'upstream'>,
  ref: RecordRef,
  signal: AbortSignal,
): Promise<CallState> {
  const keys = [linkKey(ref.provider, ref.recordId)];
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const claims = await claim(store, MONITORING_QUEUE, { limit: 1, now: Date.now(), leaseMs: 30_000, keys });
  try {
    await monitorLinks({ store, upstream, now: Date.now }, claims, patience);
  } catch (error) {
    const reason = `no answer within ${PATIENCE_MS / 1_000} s`;
    await store.write((tx) =>
      settleAll(
        tx,
        claims.map((one) => [one, { kind: 'again', at: Date.now(), error: reason, free: true }]),
      ),
    );
    if (signal.aborted || !patience.aborted) throw error;
  }
  let lane = await laneOf(store, keys);
  while (lane !== undefined && lane.fence !== null && !patience.aborted) {
    await pause(LOOK_AGAIN_MS, patience);
    lane = await laneOf(store, keys);
  }
  const link = await findLink(store.db, ref);
  if (link === undefined) throw new Error(`the link of ${keys[0]} was deleted from the store meanwhile`);
  if (lane?.parked_at != null) return { kind: 'refused', link, reason: lane.error ?? 'no reason given' };
  if (lane === undefined && dueCall(link) === undefined) return { kind: 'confirmed', link };
  return { kind: 'waiting', link, reason: lane?.error ?? null };
}

const laneOf = (store: Store, keys: readonly string[]) =>
  store.db
    .selectFrom('lane')
    .select(['fence', 'parked_at', 'error'])
    .where('queue', '=', MONITORING_QUEUE)
    .where('key', 'in', keys)
    .executeTakeFirst();
