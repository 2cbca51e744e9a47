/** Opens the service's store and secrets for a command. */
import { monitorOptions } from '../../service/delivery/transport.ts';
import { loadSecretKey, openSecrets, type Secrets } from '../../service/keys/secrets.ts';
import { MonitorError, type MonitorOptions } from '../../service/monitors/monitor-input.ts';
import { readMonitorable } from '../../service/monitors/monitorable.ts';
import type { Store } from '../../store/open.ts';
import { type ExitCode, UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { readEntity } from './entity.ts';
import { issueText } from './issues.ts';
import { withStore } from './with-store.ts';

export interface ServiceContext {
  readonly store: Store;
  readonly secrets: Secrets;
  /** How the settings of a monitor are validated. */
  readonly wire: MonitorOptions;
  readonly hasMailServer: boolean;
}

/** Opens the store and its secrets for `work`. A {@link MonitorError} becomes a {@link UsageError}. */
export async function withService(
  context: CommandContext,
  work: (service: ServiceContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { store: url, service } = await context.config(['service.secretKey']);
  return withStore(context, async (store) => {
    const secrets = openSecrets(await loadSecretKey(service?.secretKey, url));
    const wire = service === undefined ? {} : monitorOptions(service);
    try {
      return await work({ store, secrets, wire, hasMailServer: service?.smtp !== undefined });
    } catch (error) {
      if (!(error instanceof MonitorError)) throw error;
      // Without the cause, which says the same in terms of the API.
      throw new UsageError(error.issues.map(issueText).join('; '));
    }
  });
}

/** The canonical id of a company or person that can be monitored. */
export function readMonitoredEntity(text: string, log: CommandContext['log']): string {
  const read = readMonitorable(readEntity(text, log));
  if (!read.ok) throw new UsageError(`${text} ${read.reason}`);
  return read.entity;
}
