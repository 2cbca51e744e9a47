import { monitorOptions } from '../../service/delivery/transport.ts';
import { loadSecretKey, openSecrets, type Secrets } from '../../service/keys/secrets.ts';
import type { MonitorOptions } from '../../service/monitors/monitor-input.ts';
import { readMonitorable } from '../../service/monitors/monitorable.ts';
import type { Store } from '../../store/store.ts';
import { type ExitCode, UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { readEntity } from './entity.ts';
import { withStore } from './with-store.ts';

export interface ServiceContext {
  readonly store: Store;
  readonly now: () => number;
  readonly secrets: Secrets;
  readonly options: MonitorOptions;
  readonly hasMailServer: boolean;
}

export async function withService(
  context: CommandContext,
  work: (service: ServiceContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { store: url, service } = await context.config(['service.secretKey']);
  return withStore(context, async (store) => {
    const secrets = openSecrets(await loadSecretKey(service?.secretKey, url));
    const options = service === undefined ? {} : monitorOptions(service);
    return work({ store, now: Date.now, secrets, options, hasMailServer: service?.smtp !== undefined });
  });
}

/** The canonical id of a company or person that can be monitored. */
export function readMonitoredEntity(text: string, log: CommandContext['log']): string {
  const read = readMonitorable(readEntity(text, log));
  if (!read.ok) throw new UsageError(`${text} ${read.reason}`);
  return read.entity;
}
