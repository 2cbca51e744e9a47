/** Carries out undoes; in this process, if no daemon works on the connector. */
import type { ConnectorConfig } from '../../config/load.ts';
import { type Crm, openCrm } from '../../connector/crm/crm.ts';
import { undoWork } from '../../connector/undo/undo-task.ts';
import { createMetrics } from '../../http/metrics.ts';
import { openClient } from '../../http/outbound/client.ts';
import type { Store } from '../../store/store.ts';
import { connectionPart } from '../arguments/with-monitoring.ts';
import type { CommandContext } from '../cli/context.ts';
import { showWaiting } from '../cli/waiting.ts';
import { type CarryOut, runCarrier, syncs, withRunWorker } from '../progress/carry-out-run.ts';

/** `providers`: the connections that the undoes call. */
export const undoer = (
  context: CommandContext,
  store: Store,
  connector: ConnectorConfig,
  providers: readonly string[],
): CarryOut =>
  runCarrier(context, store, {
    works: syncs,
    about: 'undoing',
    accounts: providers,
    async withWorkers(id, during) {
      const configs = connector.providers.filter(({ name }) => providers.includes(name));
      // The secrets of the other connections may be missing.
      await context.config(configs.map(({ name }) => connectionPart(name)));
      const client = openClient({ env: context.env });
      const deps = { store, http: client.http, metrics: createMetrics(), now: Date.now, log: context.log };
      const crm = async (name: string): Promise<Crm | undefined> => {
        const config = configs.find((each) => each.name === name);
        return config && openCrm(deps, config);
      };
      const leaseMs = connector.limits.leaseSeconds * 1_000;
      const work = undoWork({ ...deps, leaseMs, crm, waiting: showWaiting(context) });
      try {
        return await withRunWorker(context, store, { id, work }, during);
      } finally {
        await client.close();
      }
    },
  });
