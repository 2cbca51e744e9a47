/** Sets the gauges of a store's work. */
import type { Store } from '../../store/store.ts';
import { counts } from './count-lanes.ts';

interface Gauge<L> {
  set(labels: L, value: number): void;
  reset(): void;
}

export interface WorkGauges {
  readonly lanes: Gauge<{ readonly queue: string; readonly state: string }>;
  readonly oldestPendingSeconds: { set(seconds: number): void };
  readonly diskFreeBytes: { set(bytes: number): void };
  readonly walBytes: { set(bytes: number): void };
}

/** Queues that wait by design: for a time, a share of calls, a digest, or a slow webhook. */
const PATIENT: ReadonlySet<string> = new Set([
  'housekeeping',
  'poll',
  'service-housekeeping',
  'deliver',
  'mail',
  'edits',
  'backup',
]);

/**
 * Sets the gauges of lanes, of the oldest work and, if known, of the disk. Reads all lanes. `arrivedSince`: the age of
 * work without a lane.
 */
export async function measureWork(
  store: Store,
  gauges: WorkGauges,
  { now, arrivedSince = now }: { readonly now: number; readonly arrivedSince?: number | undefined },
): Promise<void> {
  const all = await counts(store.db, now);
  gauges.lanes.reset();
  for (const { queue, ready, waiting, leased, parked } of all)
    for (const [state, count] of Object.entries({ ready, waiting, leased, parked }))
      gauges.lanes.set({ queue, state }, count);
  const work = all.filter(({ queue }) => !PATIENT.has(queue.replace(/:.*/, '')));
  const oldest = Math.min(...work.map((each) => each.oldestSince ?? now), arrivedSince, now);
  gauges.oldestPendingSeconds.set((now - oldest) / 1_000);
  const [free, wal] = [await store.freeBytes(), await store.walBytes()];
  if (free !== undefined) gauges.diskFreeBytes.set(free);
  if (wal !== undefined) gauges.walBytes.set(wal);
}
