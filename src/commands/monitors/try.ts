/** Tries the webhook of a monitor from the command line, under the same guard as the daemon's. */
import { ownAddress } from '../../halves.ts';
import { openTransports } from '../../service/delivery/transport.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { testMonitor } from '../../service/test-webhook/test-monitor.ts';
import type { TestResult } from '../../service/test-webhook/test-webhook.ts';
import type { ServiceContext } from '../arguments/with-service.ts';
import { UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';

/** Posts one payload; throws where there is nothing to post, or nowhere to. */
export async function tryMonitor(
  context: CommandContext,
  { store, wire }: Pick<ServiceContext, 'store' | 'wire'>,
  monitor: Monitor,
  entity: string | undefined,
): Promise<TestResult> {
  const { server, service, connector } = await context.config(['server', 'service.webhooks', 'connector.webhook.path']);
  const { allowPrivateAddresses: allowPrivate = false, allow = [] } = service?.webhooks ?? {};
  const transports = openTransports({ allowPrivate, allow });
  if (connector !== undefined) transports.openOwn(`${ownAddress(server.host, server.port)}${connector.webhook.path}`);
  try {
    const deps = { ...wire, ...transports, store, now: Date.now, placeType: service?.placeType ?? 'Place' };
    const test = await testMonitor(deps, monitor, { entity }, context.signal);
    if (test.kind === 'posted') return test.result;
    throw new UsageError(PROBLEMS[test.kind](entity));
  } finally {
    await transports.close();
  }
}

const PROBLEMS = {
  'no-webhook': () => 'the monitor has no webhook: cvrsync monitors update --url',
  elsewhere: () => 'this is the job of a connector that runs with another configuration: use that one',
  'unknown-entity': (entity: string | undefined) => `nothing is known of ${entity} yet`,
} as const;
