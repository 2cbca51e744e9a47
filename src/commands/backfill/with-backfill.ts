/** The context of a backfill: the store, one CRM, and the monitoring service if one is configured. Counts every call. */
import type { BackfillDeps } from '../../connector/backfill/rows/backfill-context.ts';
import { openCrm } from '../../connector/crm/crm.ts';
import { openUpstream, type Upstream, upstreamRateLimiter } from '../../connector/monitoring/upstream.ts';
import { secretsOf, serviceAddress, upstreamOf } from '../../halves.ts';
import { createMetrics } from '../../http/metrics.ts';
import { type OutboundHttp, openClient } from '../../http/outbound/client.ts';
import { pause } from '../../runtime/limits/pause.ts';
import { createWakeUp } from '../../runtime/wake-up.ts';
import { openStore } from '../../store/engines/open.ts';
import { connectionPart, needProvider, UPSTREAM_PARTS } from '../arguments/with-monitoring.ts';
import { UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { showWaiting } from '../cli/waiting.ts';

export interface CallsMade {
  crm: number;
  service: number;
}

export interface BackfillContext extends Omit<BackfillDeps, 'report'> {
  /** Undefined if none is configured. */
  readonly upstream: Upstream | undefined;
}

/** Opens the context for `work` and closes it afterwards. Creates a missing store. */
export async function withBackfill<T>(
  context: CommandContext,
  name: string,
  work: (opened: BackfillContext, calls: CallsMade) => Promise<T>,
): Promise<T> {
  const settings = await context.config([connectionPart(name), ...UPSTREAM_PARTS]);
  const { connector, store: url } = settings;
  if (connector === undefined) throw new UsageError('the configuration has no connector section');
  const config = needProvider(connector, name);
  const client = openClient({ env: context.env });
  const store = await openStore(url, { migrate: 'new' });
  try {
    const calls: CallsMade = { crm: 0, service: 0 };
    const counted =
      (whose: keyof CallsMade): OutboundHttp =>
      (request) => {
        calls[whose] += 1;
        return client.http(request);
      };
    const metrics = createMetrics();
    const now = Date.now;
    const crm = await openCrm({ store, http: counted('crm'), metrics, now }, config);
    const service = await upstreamOf(settings, await secretsOf(settings), serviceAddress(settings));
    const rateLimiter = upstreamRateLimiter(store, service?.requestsPerMinute ?? 1, now);
    const waiting = showWaiting(context);
    const upstream =
      service === undefined
        ? undefined
        : openUpstream({ ...service, http: counted('service'), rateLimiter, metrics, waiting });
    const leaseMs = connector.limits.leaseSeconds * 1_000;
    const { log } = context;
    return await work(
      {
        store,
        wakeUp: createWakeUp(),
        crm,
        upstream,
        upstreamRateLimiter: rateLimiter,
        metrics,
        now,
        wait: pause,
        log,
        leaseMs,
      },
      calls,
    );
  } finally {
    await client.close();
    await store.close();
  }
}
