/** Leaves a CRM in this process, if no daemon works on the store. */
import type { Config } from '../../config/load.ts';
import { openCrm } from '../../connector/crm/crm.ts';
import { startLeavingAlone } from '../../connector/workers.ts';
import { secretsOf, serviceAddress, upstreamOf } from '../../halves.ts';
import { createMetrics } from '../../http/metrics.ts';
import { openClient } from '../../http/outbound/client.ts';
import { findRun } from '../../runtime/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { connectionPart, UPSTREAM_PARTS } from '../arguments/with-monitoring.ts';
import type { CommandContext } from '../cli/context.ts';
import { type CarryOut, runCarrier, syncs } from '../progress/carry-out-run.ts';

/** A daemon carries the runs out, or this process if no daemon works on the connector. */
export const leaver = (context: CommandContext, store: Store): CarryOut =>
  runCarrier(context, store, {
    works: syncs,
    withWorkers: (id, work) => withWorkers(context, store, id, work),
    about: 'leaving',
  });

async function withWorkers<T>(context: CommandContext, store: Store, id: number, work: () => Promise<T>): Promise<T> {
  const { provider, undo, removeProperties } = Object((await findRun(store.db, id))?.input);
  // If the CRM is not called, its secrets may be missing.
  const isCalled = undo === true || removeProperties === true;
  const config = await context.config([...UPSTREAM_PARTS, ...(isCalled ? [connectionPart(provider)] : [])]);
  const client = openClient({ env: context.env });
  const deps = { store, http: client.http, metrics: createMetrics(), now: Date.now, log: context.log };
  const configured = config.connector?.providers.find(({ name }) => name === provider);
  const crms = isCalled && configured !== undefined ? [await openCrm(deps, configured)] : [];
  const workers = startLeavingAlone(deps, { ...(await settingsOf(config)), run: id, crms });
  try {
    return await work();
  } finally {
    await Promise.all(workers.map((worker) => worker.stop(GRACE_MS)));
    await client.close();
  }
}

/** A stop must take less than 25 s. */
const GRACE_MS = 20_000;

async function settingsOf(config: Config) {
  const upstream = await upstreamOf(config, await secretsOf(config), serviceAddress(config));
  return { upstream, leaseSeconds: config.connector?.limits.leaseSeconds ?? LEASE_SECONDS };
}

const LEASE_SECONDS = 60;
