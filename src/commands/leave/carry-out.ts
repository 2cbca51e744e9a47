/** Follows a run until it is over. Where no daemon works on the store, this process carries it out. */
import type { Config } from '../../config/load.ts';
import { openCrm } from '../../connector/crm/crm.ts';
import { startLeavingAlone } from '../../connector/workers.ts';
import { secretsOf, serviceAddress, upstreamOf } from '../../halves.ts';
import { createMetrics } from '../../http/metrics.ts';
import { openClient } from '../../http/outbound/client.ts';
import { readDaemons } from '../../runtime/daemons.ts';
import { pause } from '../../runtime/limits/pause.ts';
import { findRun, type StoredRun } from '../../runtime/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { connectionPart, UPSTREAM_PARTS } from '../arguments/with-monitoring.ts';
import type { CommandContext } from '../cli/context.ts';

const LOOK_MS = 200;
const LOG_EVERY_MS = 5_000;

/** Waits for the run's stage to end, and returns the run as it then is; returns earlier if the command is stopped. */
export async function carryOut(context: CommandContext, store: Store, id: number): Promise<StoredRun<unknown>> {
  const daemons = await readDaemons(store.db, Date.now());
  const works = daemons.some(({ roles, digests }) => roles.includes('sync') && digests['connector'] !== undefined);
  if (works) return follow(context, store, id);
  return withWorkers(context, store, id, () => follow(context, store, id));
}

async function follow({ signal, log }: CommandContext, store: Store, id: number): Promise<StoredRun<unknown>> {
  let loggedAt = Date.now();
  for (;;) {
    const run = await findRun(store.db, id);
    if (run === undefined) throw new Error(`run ${id} was deleted`);
    if ((run.state !== 'waiting' && run.state !== 'running') || signal.aborted) return run;
    if (Date.now() - loggedAt >= LOG_EVERY_MS) {
      loggedAt = Date.now();
      log.info(
        { done: run.done, total: run.total },
        run.stage === 'preview' ? 'finding out what it would do' : 'leaving',
      );
    }
    await pause(LOOK_MS, signal);
  }
}

async function withWorkers<T>(context: CommandContext, store: Store, id: number, work: () => Promise<T>): Promise<T> {
  const { provider, undo, removeProperties } = Object((await findRun(store.db, id))?.input);
  // Its secrets need not be set if the CRM is not called.
  const isCalled = undo === true || removeProperties === true;
  const config = await context.config([...UPSTREAM_PARTS, ...(isCalled ? [connectionPart(provider)] : [])]);
  const client = openClient({ env: context.env });
  const deps = { store, http: client.http, metrics: createMetrics(), now: Date.now, log: context.log };
  const configured = config.connector?.providers.find(({ name }) => name === provider);
  const crms = isCalled && configured !== undefined ? [await openCrm(deps, configured)] : [];
  const workers = startLeavingAlone(deps, { ...(await settingsOf(config)), crms });
  try {
    return await work();
  } finally {
    await Promise.all(workers.map((worker) => worker.stop(GRACE_MS)));
    await client.close();
  }
}

/** A stop has to be over within 25 s. */
const GRACE_MS = 20_000;

async function settingsOf(config: Config) {
  const upstream = await upstreamOf(config, await secretsOf(config), serviceAddress(config));
  return { upstream, leaseSeconds: config.connector?.limits.leaseSeconds ?? LEASE_SECONDS };
}

const LEASE_SECONDS = 60;
