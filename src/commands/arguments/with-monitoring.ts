/** The context of the monitoring commands: the store, and the monitoring service if one is configured. */
import type { ConnectorConfig } from '../../config/load.ts';
import { didYouMean } from '../../config/schema/nearest.ts';
import { type Crm, type CrmConfig, openCrm } from '../../connector/crm/crm.ts';
import { openUpstream, type Upstream, upstreamRateLimiter } from '../../connector/monitoring/upstream.ts';
import { secretsOf, serviceAddress, upstreamOf } from '../../halves.ts';
import { createMetrics } from '../../http/metrics.ts';
import { openClient } from '../../http/outbound/client.ts';
import { openStore } from '../../store/engines/open.ts';
import type { Store } from '../../store/store.ts';
import { type ExitCode, UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { showWaiting } from '../cli/waiting.ts';

export interface MonitoringContext {
  readonly store: Store;
  readonly connector: ConnectorConfig;
  readonly upstream: Upstream | undefined;
  readonly openCrm: (name: string) => Promise<Crm>;
}

export const connectionPart = (name: string): string => `connector.providers.${name}`;

/** The parts of the configuration that a call of the monitoring service needs. */
export const UPSTREAM_PARTS: readonly string[] = ['connector.upstream', 'server', 'service.secretKey'];

export async function withMonitoring(
  context: CommandContext,
  work: (opened: MonitoringContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  const settings = await context.config(UPSTREAM_PARTS);
  const { connector, store: url } = settings;
  if (connector === undefined) throw new UsageError('the configuration has no connector section');
  const client = openClient({ env: context.env });
  const store = await openStore(url, { migrate: 'new' });
  try {
    const config = await upstreamOf(settings, await secretsOf(settings), serviceAddress(settings));
    const upstream =
      config === undefined
        ? undefined
        : openUpstream({
            baseUrl: config.baseUrl,
            accessKey: config.accessKey,
            http: client.http,
            rateLimiter: upstreamRateLimiter(store, config.requestsPerMinute, Date.now),
            waiting: showWaiting(context),
          });
    const deps = { store, http: client.http, metrics: createMetrics(), now: Date.now };
    const open = async (name: string): Promise<Crm> => {
      await context.config([connectionPart(name)]);
      return await openCrm(deps, needProvider(connector, name));
    };
    return await work({ store, connector, upstream, openCrm: open });
  } finally {
    await client.close();
    await store.close();
  }
}

export function needUpstream({ upstream }: MonitoringContext): Upstream {
  if (upstream === undefined)
    throw new UsageError('no monitoring service is configured: set connector.upstream.baseUrl and accessKey');
  return upstream;
}

/** Throws if the connection is not configured. */
export function needProvider({ providers }: Pick<ConnectorConfig, 'providers'>, name: string): CrmConfig {
  const found = providers.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = providers.map((one) => one.name);
  throw new UsageError(
    `${name} is not configured under connector.providers${didYouMean(name, names)} (${names.join(', ')})`,
  );
}
