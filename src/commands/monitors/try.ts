/** Tries the webhook of a monitor from the command line, under the same guard as the daemon's. */
import { ownAddress } from '../../halves.ts';
import { createGuard } from '../../http/outbound/guard.ts';
import { openWebhookClient, webhookAt } from '../../service/delivery/post.ts';
import { type TestResult, testPayload, testWebhook } from '../../service/delivery/test-webhook.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { isOwnJob } from '../../service/monitors/own-jobs.ts';
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
  if (monitor.url === null) throw new UsageError('the monitor has no webhook: cvrsync monitors update --url');
  const { server, service, connector } = await context.config();
  if (isOwnJob(monitor) && connector === undefined)
    throw new UsageError('this is the job of a connector that runs with another configuration: use that one');
  const payload = await testPayload(store.db, entity, { now: Date.now(), placeType: service?.placeType ?? 'Place' });
  if (payload === undefined) throw new UsageError(`nothing is known of ${entity} yet`);
  const guard = createGuard({
    allowPrivate: service?.webhooks.allowPrivateAddresses ?? false,
    allow: service?.webhooks.allow ?? [],
    // Nobody but our own connector's jobs reaches our own address.
    allowOrigins: isOwnJob(monitor) ? [ownAddress(server.host, server.port)] : [],
  });
  const client = openWebhookClient(guard);
  try {
    const deps = { ...wire, http: client.http, now: Date.now };
    return await testWebhook(deps, webhookAt(monitor.url, monitor.security), payload, context.signal);
  } finally {
    await client.close();
  }
}
