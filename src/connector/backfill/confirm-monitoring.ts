/** confirm: the calls to the monitoring service that the new links wait for. */
import { sql } from 'kysely';
import { startWorker, type Worker } from '../../runtime/worker.ts';
import { inPages, ROWS_AT_ONCE } from '../../store/count.ts';
import type { Db } from '../../store/store.ts';
import { MONITORING_BATCH, monitorLinks } from '../monitoring/monitoring.ts';
import type { Upstream } from '../monitoring/upstream.ts';
import { MONITORING_QUEUE } from '../names/queues.ts';
import type { BackfillDeps } from './rows/backfill-context.ts';

const LOOK_MS = 1_000;

/**
 * The worker for these calls where no daemon makes them. The pace of the service's key is in the store, so that the calls of
 * other processes count, too. `upstream`: undefined if none is configured; then records are linked only.
 */
export function startConfirming(
  deps: Omit<BackfillDeps, 'crm' | 'report' | 'wait'> & { readonly upstream: Upstream | undefined },
): Worker {
  const { store, wakeUp, upstream, upstreamRateLimiter, now, log, leaseMs, metrics } = deps;
  return startWorker({
    ...{ store, wakeUp, now, log, leaseMs },
    ...{ queue: MONITORING_QUEUE, batch: MONITORING_BATCH, concurrency: 1 },
    blockedUntil: async () => (await upstreamRateLimiter.blockedUntil())?.until ?? 0,
    run: (claims, signal) => monitorLinks({ store, upstream, now, metrics }, claims, signal),
  });
}

/**
 * Resolves once the calls that wait now are made, however long the service is away. Those that a daemon adds meanwhile are
 * the daemon's: where people never stop working in the CRM, there would always be one more.
 */
export async function allConfirmed(deps: BackfillDeps, signal: AbortSignal): Promise<void> {
  const { store, crm, report, wait, upstreamRateLimiter, now } = deps;
  const until = now();
  for (;;) {
    const { left, trouble } = await waitingCalls(store.db, crm.name, until);
    const pause = left === 0 ? undefined : await upstreamRateLimiter.blockedUntil();
    report({
      phase: 'confirm',
      toConfirm: left,
      trouble: left === 0 ? undefined : (trouble ?? pause?.reason ?? undefined),
    });
    if (left === 0) return;
    signal.throwIfAborted();
    await wait(LOOK_MS, signal);
    signal.throwIfAborted();
  }
}

/** How many links of a connection wait for a call since before a moment, and why one failed. Parked ones are a person's. */
export async function waitingCalls(
  db: Db,
  provider: string,
  until: number,
): Promise<{ left: number; trouble: string | undefined }> {
  let left = 0;
  let trouble: string | undefined;
  await inPages(`${provider}:`, async (after) => {
    const page = db
      .selectFrom('lane')
      .select(['key', 'error', 'parked_at', 'since'])
      .where('queue', '=', MONITORING_QUEUE)
      .where('key', '>', after)
      // Behind all keys of the connection: the sign after the colon.
      .where('key', '<', `${provider};`)
      .orderBy('key')
      .limit(ROWS_AT_ONCE);
    const isOpen = sql<boolean>`parked_at is null and since <= ${until}`;
    const counted = await db
      .selectFrom(page.as('lane'))
      .select(({ fn }) => [
        fn.max('key').as('last'),
        fn.countAll().as('lanes'),
        sql<number>`cast(coalesce(sum(case when ${isOpen} then 1 else 0 end), 0) as bigint)`.as('open'),
        fn.min(sql<string | null>`case when ${isOpen} then error end`).as('trouble'),
      ])
      .executeTakeFirstOrThrow();
    left += counted.open;
    trouble ??= counted.trouble ?? undefined;
    return Number(counted.lanes) < ROWS_AT_ONCE ? undefined : (counted.last ?? undefined);
  });
  return { left, trouble };
}
