/** What a backfill stands on: the store, one CRM, the monitoring service if one is configured; every call counted. */

import type { BackfillDeps } from '../../connector/backfill/deps.ts';
import { openCrm } from '../../connector/crm.ts';
import { respellRecords, tellRespelt } from '../../connector/respell/respell.ts';
import { openUpstream, upstreamPace } from '../../connector/upstream.ts';
import { ownAddress, secretsOf, upstreamOf } from '../../halves.ts';
import { type Http, openClient } from '../../http/client.ts';
import { createMetrics } from '../../http/metrics.ts';
import { createBell } from '../../runtime/bell.ts';
import { pause } from '../../runtime/pause.ts';
import { openStore } from '../../store/open.ts';
import { UsageError } from '../command.ts';
import type { Context } from '../context.ts';
import { needProvider } from '../monitoring/ground.ts';
import { storeExists } from '../opened.ts';

/** Calls made by this process, answered or not. */
export interface CallsMade {
  crm: number;
  service: number;
}

export type Ground = Omit<BackfillDeps, 'tell'>;

/** Opens all of it, does the work, and closes it however it ends. A store that is not there yet is made. */
export async function onBackfillGround<T>(
  context: Context,
  name: string,
  work: (ground: Ground, calls: CallsMade) => Promise<T>,
): Promise<T> {
  const settings = await context.config();
  const { connector, server, store: url } = settings;
  if (connector === undefined) throw new UsageError('the configuration has no connector section');
  const config = needProvider(connector, name);
  const client = openClient({ env: context.env });
  const store = await openStore(url, { migrate: !storeExists(url) });
  try {
    const calls: CallsMade = { crm: 0, service: 0 };
    const counted =
      (whose: keyof CallsMade): Http =>
      (request) => {
        calls[whose] += 1;
        return client.http(request);
      };
    const metrics = createMetrics();
    const now = Date.now;
    const crm = await openCrm({ store, http: counted('crm'), metrics, now }, config);
    tellRespelt(context.log, name, await respellRecords(store, crm, now()));
    const service = await upstreamOf(settings, await secretsOf(settings), ownAddress(server.host, server.port));
    const pace = upstreamPace(store, service?.requestsPerMinute ?? 1, now);
    const upstream =
      service === undefined ? undefined : openUpstream({ ...service, http: counted('service'), pace, metrics });
    const leaseMs = connector.limits.leaseSeconds * 1_000;
    const { log } = context;
    return await work(
      { store, bell: createBell(), crm, upstream, upstreamPace: pace, metrics, now, wait: pause, log, leaseMs },
      calls,
    );
  } finally {
    await client.close();
    await store.close();
  }
}
