/** The workers of the connector, one for each queue. */
import type { Metrics } from '../http/metrics.ts';
import type { Outages } from '../http/outbound/outage.ts';
import { TASK_BATCH } from '../runtime/housekeeping/periodic-tasks.ts';
import { pause } from '../runtime/limits/pause.ts';
import type { RateLimiter } from '../runtime/limits/rate-limiter.ts';
import { startRunWorker } from '../runtime/runs/run-worker.ts';
import { createWakeUp, type WakeUp } from '../runtime/wake-up.ts';
import { startWorker, type Worker } from '../runtime/worker.ts';
import { applyReceipts } from './apply/apply.ts';
import { backfillWork } from './backfill/backfill-worker.ts';
import { openGate } from './crm/ability.ts';
import type { Crm } from './crm/crm.ts';
import { derivedRules, prepareDerived, startDerived } from './derived.ts';
import { checkEdits } from './edits/check-edits.ts';
import { openCheckLimiter } from './edits/check-limiter.ts';
import { healRecords } from './heal/heal.ts';
import { runHousekeeping, seedHousekeeping } from './housekeeping.ts';
import type { Intake } from './intake/intake.ts';
import { leaveWork } from './leave/leave-work.ts';
import { unlessLeft } from './links/left.ts';
import { suggestMatches } from './match/suggest.ts';
import { MONITORING_BATCH, markUnconfirmed, monitorLinks } from './monitoring/monitoring.ts';
import { openUpstream, type Upstream, upstreamRateLimiter } from './monitoring/upstream.ts';
import { MONITORING_QUEUE } from './names/queues.ts';
import { POLL_QUEUE } from './poll/poll-task.ts';
import { runPolls, seedPolls } from './poll.ts';
import { acceptAll } from './proposals/proposals.ts';
import { reviewWork } from './review/review-task.ts';
import { acceptAtStart, followRules, readMappedFields } from './rules/accepted.ts';
import type { ConnectorDeps, ConnectorSettings } from './settings.ts';
import { syncRecords } from './sync/sync.ts';
import { crmsByName } from './undo/undo-run.ts';
import { undoWork } from './undo/undo-task.ts';
import { readBatchSize } from './write/batch-size.ts';

/** Companies in one transaction of apply: enough to amortise the commit, few enough to let webhooks in between. */
const APPLY_BATCH = 100;
const YIELD_MS = 25;
/** Wait of a sync batch for more records while a backlog drains: full batches save calls. */
const GATHER_MS = 50;

/** The workers by the way that they stop. */
export interface Workers {
  /** Have due work until all changes are in the CRMs. */
  readonly awaited: readonly Worker[];
  readonly timed: readonly Worker[];
  /** Run on a schedule, may take minutes, and start again from a cursor: a stop does not wait for them. */
  readonly restartable: readonly Worker[];
  /** May take hours and continue from a cursor: a stop does not wait for them. */
  readonly resumable: readonly Worker[];
}

export const NO_WORKERS: Workers = { awaited: [], timed: [], restartable: [], resumable: [] };

interface ConnectorParts {
  readonly crms: readonly Crm[];
  readonly intake: Intake;
  readonly wakeUp: WakeUp;
  readonly outages: Outages;
}

export async function startSyncing(
  deps: ConnectorDeps,
  settings: ConnectorSettings,
  { crms, intake, wakeUp, outages }: ConnectorParts,
): Promise<Workers> {
  const { store, metrics, log, now } = deps;
  const { rulesAcceptedBy, providers } = settings;
  await store.write(async (tx) => {
    await acceptAtStart(tx, providers, { daemon: deps.daemon, now: now() });
    if (rulesAcceptedBy !== undefined) await acceptAll(tx, providers, rulesAcceptedBy, now());
  });
  for (const { name } of crms) await followRules(store, name);
  await store.write(async (tx) => {
    await seedHousekeeping(tx, now());
    await markUnconfirmed(tx, now());
    await seedPolls(tx, crms, now());
    await prepareDerived(tx, crms, now());
  });

  const common = { store, wakeUp, now, log, leaseMs: settings.limits.leaseSeconds * 1000 };
  const rateLimiter = upstreamRateLimiter(store, settings.upstream?.requestsPerMinute ?? 1, now);
  const upstream = once(() =>
    connectUpstream({ ...deps, http: outages.watch('the monitoring service', deps.http) }, settings, rateLimiter),
  );
  const awaited: readonly Worker[] = [
    startApply(common, deps, intake, () => ({ ...settings.wire, mapped: readMappedFields, ...derivedRules(crms) })),
    ...crms.flatMap((crm) => startRecordWorkers(common, deps, crm)),
    startMonitoring(common, deps, rateLimiter, upstream),
    startRunWorker(common, undoWork({ ...deps, leaseMs: common.leaseMs, crm: crmsByName(crms) })),
    startRunWorker(common, reviewWork(deps)),
  ];
  const housekeeper = startWorker({
    ...common,
    queue: 'housekeeping',
    batch: TASK_BATCH,
    concurrency: 1,
    run: (claims, signal) => runHousekeeping(deps, claims, signal),
  });
  const poller = startWorker({
    ...common,
    queue: POLL_QUEUE,
    batch: 1,
    // A slow task must not delay others.
    concurrency: 2 * crms.length,
    run: (claims, signal) => runPolls({ store, metrics, log, now, wakeUp, upstream }, { crms }, claims, signal),
  });
  const backfiller = startBackfills(common, deps, rateLimiter, crms);
  const leaving = startLeaving(common, deps, settings, crms);
  return {
    awaited,
    timed: [housekeeper, ...crms.flatMap((crm) => startChecks(common, crm))],
    restartable: [poller],
    resumable: [backfiller, leaving],
  };
}

type WorkerBasics = Omit<Parameters<typeof startWorker>[0], 'queue' | 'batch' | 'concurrency' | 'run'> & {
  readonly leaseMs: number;
};

function startApply(
  common: WorkerBasics,
  { metrics, log }: ConnectorDeps,
  intake: Intake,
  rules: () => Omit<Parameters<typeof applyReceipts>[0], 'store' | 'wakeUp' | 'metrics' | 'now' | 'log'>,
): Worker {
  const { store, wakeUp, now } = common;
  return startWorker({
    ...common,
    queue: 'apply',
    batch: APPLY_BATCH,
    concurrency: 1,
    prepare: { run: intake.read, isNeeded: intake.hasArrivals },
    blockedUntil: () => (intake.inBurst() ? now() + YIELD_MS : 0),
    run: (claims) => applyReceipts({ store, wakeUp, metrics, now, log, ...rules() }, claims),
  });
}

const startRecordWorkers = (common: WorkerBasics, deps: ConnectorDeps, crm: Crm): readonly Worker[] => [
  startSync(common, deps.metrics, deps.log, crm),
  startHeal(common, deps.metrics, crm),
  ...(crm.autoMatch === undefined ? [] : [startMatch(common, crm)]),
  ...startDerived(common, deps, crm),
];

/**
 * Checks for overwritten edits, if the CRM reports who edited. It waits for its share of calls, and no stop waits for
 * it.
 */
function startChecks(common: WorkerBasics, crm: Crm): readonly Worker[] {
  if (crm.connection.edits === undefined) return [];
  const { store, now } = common;
  const gate = openGate(store, crm, 'edits', now);
  const limiter = openCheckLimiter(store, crm, now);
  const worker = startWorker({
    ...common,
    queue: `edits:${crm.name}`,
    batch: crm.limits.batch.read,
    concurrency: 1,
    blockedUntil: () => gate.blockedUntil(),
    run: unlessLeft(store, crm.name, (claims, signal) =>
      checkEdits({ store, now, gate, limiter }, crm, claims, signal),
    ),
  });
  return [worker];
}

function startSync(common: WorkerBasics, metrics: Metrics, log: ConnectorDeps['log'], crm: Crm): Worker {
  const { store, now } = common;
  return startWorker({
    ...common,
    queue: `sync:${crm.name}`,
    batch: () => readBatchSize(store.db, crm, now()),
    concurrency: crm.limits.concurrency,
    gather: GATHER_MS,
    blockedUntil: async () => (await crm.rateLimiter.blockedUntil())?.until ?? 0,
    run: unlessLeft(store, crm.name, (claims, signal) =>
      syncRecords({ store, metrics, log, now }, crm, claims, signal),
    ),
  });
}

function startHeal(common: WorkerBasics, metrics: Metrics, crm: Crm): Worker {
  const { store, now } = common;
  return startWorker({
    ...common,
    queue: `heal:${crm.name}`,
    batch: crm.limits.batch.read,
    concurrency: 1,
    blockedUntil: async () => (await crm.rateLimiter.blockedUntil())?.until ?? 0,
    run: unlessLeft(store, crm.name, (claims, signal) => healRecords({ store, metrics, now }, crm, claims, signal)),
  });
}

function startMatch(common: WorkerBasics, crm: Crm): Worker {
  const { store, now } = common;
  return startWorker({
    ...common,
    queue: `match:${crm.name}`,
    batch: crm.limits.batch.read,
    concurrency: 1,
    blockedUntil: async () => (await crm.rateLimiter.blockedUntil())?.until ?? 0,
    run: unlessLeft(store, crm.name, (claims, signal) => suggestMatches({ store, now }, crm, claims, signal)),
  });
}

function startMonitoring(
  common: WorkerBasics,
  { store, metrics, log, now }: RunDeps,
  rateLimiter: RateLimiter,
  upstream: () => Promise<Upstream | undefined>,
): Worker {
  return startWorker({
    ...common,
    queue: MONITORING_QUEUE,
    batch: MONITORING_BATCH,
    concurrency: 1,
    blockedUntil: async () => (await rateLimiter.blockedUntil())?.until ?? 0,
    run: async (claims, signal) =>
      monitorLinks({ store, upstream: await upstream(), now, metrics, log }, claims, signal),
  });
}

type RunDeps = Pick<ConnectorDeps, 'store' | 'metrics' | 'now' | 'log'>;

/** What leaves a connection while no daemon runs: one run, and the calls to the service that end the monitoring. */
export function startLeavingAlone(
  deps: Pick<ConnectorDeps, 'store' | 'http' | 'metrics' | 'now' | 'log'>,
  {
    run,
    upstream,
    leaseSeconds,
    crms,
  }: Pick<ConnectorSettings, 'upstream'> & {
    readonly run: number;
    readonly leaseSeconds: number;
    readonly crms: readonly Crm[];
  },
): readonly Worker[] {
  const { store, now, log } = deps;
  const common = { store, wakeUp: createWakeUp(), now, log, leaseMs: leaseSeconds * 1000 };
  const rateLimiter = upstreamRateLimiter(store, upstream?.requestsPerMinute ?? 1, now);
  const connect = once(() => connectUpstream(deps, { upstream }, rateLimiter));
  return [
    startLeaving({ ...common, only: run }, deps, { upstream, silenceMs: ALONE_SILENCE_MS }, crms),
    ...(upstream === undefined ? [] : [startMonitoring(common, deps, rateLimiter, connect)]),
  ];
}

/** Somebody waits for a command, and a daemon repeats the calls. */
const ALONE_SILENCE_MS = 15_000;

/** Leaves connections, one after the other. */
const startLeaving = (
  common: WorkerBasics & { readonly only?: number },
  deps: RunDeps,
  { upstream, silenceMs }: Pick<ConnectorSettings, 'upstream'> & { readonly silenceMs?: number },
  crms: readonly Crm[],
): Worker =>
  startRunWorker(
    common,
    leaveWork({
      ...deps,
      ...{ crms, leaseMs: common.leaseMs, hasUpstream: upstream !== undefined, wait: pause, silenceMs },
      ring: (queue) => common.wakeUp.ring(queue),
    }),
  );

/** Backfills take hours, so one of each connection may run. */
function startBackfills(
  common: WorkerBasics,
  deps: ConnectorDeps,
  rateLimiter: RateLimiter,
  crms: readonly Crm[],
): Worker {
  const work = backfillWork({ ...common, ...deps, wait: pause, upstreamRateLimiter: rateLimiter }, crms);
  return startRunWorker({ ...common, concurrency: Math.max(1, crms.length) }, work);
}

async function connectUpstream(
  { http, metrics, now }: Pick<ConnectorDeps, 'http' | 'metrics' | 'now'>,
  { upstream: config }: Pick<ConnectorSettings, 'upstream'>,
  rateLimiter: RateLimiter,
): Promise<Upstream | undefined> {
  return config === undefined
    ? undefined
    : openUpstream({ ...config, baseUrl: await config.baseUrl, http, rateLimiter, metrics, now });
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
