/** The connector: its queues, the workers on them, and the order in which they start and stop. */
import type { Logger } from 'pino';
import type { Metrics } from '../http/metrics.ts';
import type { OutboundHttp } from '../http/outbound/client.ts';
import { watchOutages } from '../http/outbound/outage.ts';
import { counts } from '../runtime/lanes/lanes.ts';
import type { RateLimiter } from '../runtime/rate-limiter.ts';
import { type TaskWork, workOnRuns } from '../runtime/runs/work.ts';
import { createWakeUp } from '../runtime/wake-up.ts';
import { startWorker, type Worker } from '../runtime/worker.ts';
import type { Store, Tx } from '../store/open.ts';
import { type Crm, type CrmConfig, mappedFields, openCrm } from './crm/crm.ts';
import { POLL_QUEUE } from './crm/poll-task.ts';
import { derivedRules, prepareDerived, startDerived } from './derived.ts';
import { applyReceipts } from './facts/apply.ts';
import { healRecords } from './heal/heal.ts';
import { runHousekeeping, seedHousekeeping } from './housekeeping.ts';
import { hasArrivals } from './intake/arrivals.ts';
import { createIntake, type Intake } from './intake/intake.ts';
import { MONITORING_QUEUE } from './links/links.ts';
import { MONITORING_BATCH, markUnconfirmed, monitorLinks } from './links/monitoring.ts';
import { openUpstream, type Upstream, upstreamRateLimiter } from './links/upstream.ts';
import { suggestMatches } from './match/suggest.ts';
import { runPolls, seedPolls } from './poll.ts';
import { reportRespelt, respellRecords } from './respell/respell.ts';
import { reviewWork } from './review/worker.ts';
import { markRemapped } from './sync/remap.ts';
import { syncRecords } from './sync/sync.ts';
import { undoWork } from './undo/worker.ts';

export interface ConnectorDeps {
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
  /** This daemon among those of the store. */
  readonly daemon?: string;
}

/** The connector's part of the configuration, as the connector needs it. */
export interface ConnectorSettings {
  readonly providers: readonly CrmConfig[];
  /** Its address may be known only once our own server listens: the other half of this process. */
  readonly upstream?:
    | { readonly baseUrl: string | Promise<string>; readonly accessKey: string; readonly requestsPerMinute: number }
    | undefined;
  readonly emailEvent: string;
  readonly limits: { readonly backlogCap: number; readonly leaseSeconds: number };
}

export interface Connector {
  readonly intake: Intake;
  readonly crms: readonly Crm[];
  /** Whether a monitoring service is configured. */
  readonly hasUpstream: boolean;
  /** Resolves when no queue but housekeeping and polls has due work. */
  drained(): Promise<void>;
  /** Takes no more events, finishes what runs within `graceMs`, gives the rest back. */
  stop(graceMs: number): Promise<void>;
  /** Brings the gauges of its connections up to date. */
  measure(): Promise<void>;
}

/** Companies in one transaction of apply: enough to amortise the commit, short enough to let webhooks in between. */
const APPLY_BATCH = 100;
/** How long apply leaves the thread to a burst of webhooks, in ms. */
const YIELD_MS = 25;
/** How long a sync batch waits to fill up while a backlog drains, in ms: full batches save calls. */
const GATHER_MS = 50;

/** Opens every connection and starts every worker. */
export async function startConnector(deps: ConnectorDeps, settings: ConnectorSettings): Promise<Connector> {
  const { store, metrics, log, now } = deps;
  const wakeUp = createWakeUp();
  const outages = watchOutages(deps);
  const crms = await Promise.all(
    settings.providers.map((config) => openCrm({ ...deps, http: outages.watch(config.name, deps.http) }, config)),
  );
  for (const crm of crms) reportRespelt(log, crm.name, await respellRecords(store, crm, now()));
  const { emailEvent, limits } = settings;
  const intake = createIntake({ store, wakeUp, now, metrics, log, emailEvent, backlogCap: limits.backlogCap });
  await store.write(async (tx) => {
    await seedHousekeeping(tx, now());
    await markUnconfirmed(tx, now());
    await markRemapped(tx, crms, now(), deps.daemon);
    await seedPolls(tx, crms, now());
    await prepareDerived(tx, crms, now());
  });

  const common = { store, wakeUp, now, log, leaseMs: settings.limits.leaseSeconds * 1000 };
  const rules = { mapped: mappedFields(crms), ...derivedRules(crms) };
  const rateLimiter = upstreamRateLimiter(store, settings.upstream?.requestsPerMinute ?? 1, now);
  const upstream = once(() =>
    connectUpstream({ ...deps, http: outages.watch('the monitoring service', deps.http) }, settings, rateLimiter),
  );
  const workers: Worker[] = [
    startWorker({
      ...common,
      queue: 'apply',
      batch: APPLY_BATCH,
      concurrency: 1,
      prepare: intake.read,
      blockedUntil: () => (intake.inBurst() ? now() + YIELD_MS : 0),
      run: (claims) => applyReceipts({ store, wakeUp, metrics, now, log, emailEvent, ...rules }, claims),
    }),
    ...crms.flatMap((crm) => startRecordWorkers(common, deps, crm)),
    startMonitoring(common, deps, rateLimiter, upstream),
    startRuns(common, deps, undoWork({ ...deps, leaseMs: common.leaseMs }, crms)),
    startRuns(common, deps, reviewWork(deps)),
  ];
  const remap = (tx: Tx, at: number) => markRemapped(tx, crms, at, deps.daemon);
  const housekeeper = startWorker({
    ...common,
    queue: 'housekeeping',
    batch: 1,
    concurrency: 1,
    run: (claims, signal) =>
      runHousekeeping({ store, now, metrics, ...(deps.daemon !== undefined && { remap }) }, claims, signal),
  });
  const poller = startWorker({
    ...common,
    queue: POLL_QUEUE,
    batch: 1,
    // One that takes long keeps no other from running.
    concurrency: 2 * crms.length,
    run: (claims, signal) => runPolls({ store, metrics, log, now, wakeUp, upstream }, { crms }, claims, signal),
  });
  intake.start();

  return {
    intake,
    crms,
    hasUpstream: settings.upstream !== undefined,
    drained: () => drain(workers, store, now),
    async stop(graceMs) {
      await intake.stop();
      // A poll may take minutes and starts again from its cursor: do not wait for it.
      await Promise.all([poller.stop(0), ...[...workers, housekeeper].map((worker) => worker.stop(graceMs))]);
    },
    measure: () => measure(deps, crms),
  };
}

type Common = Omit<Parameters<typeof startWorker>[0], 'queue' | 'batch' | 'concurrency' | 'run'> & {
  readonly leaseMs: number;
};

/** The workers of one connection's records. */
const startRecordWorkers = (common: Common, deps: ConnectorDeps, crm: Crm): readonly Worker[] => [
  startSync(common, deps.metrics, deps.log, crm),
  startHeal(common, deps.metrics, crm),
  ...(crm.autoMatch === undefined ? [] : [startMatch(common, crm)]),
  ...startDerived(common, deps, crm),
];

function startSync(common: Common, metrics: Metrics, log: Logger, crm: Crm): Worker {
  const { store, now } = common;
  return startWorker({
    ...common,
    queue: `sync:${crm.name}`,
    batch: Math.min(crm.limits.batch.read, crm.limits.batch.update),
    concurrency: crm.limits.concurrency,
    gather: GATHER_MS,
    blockedUntil: async () => (await crm.rateLimiter.blockedUntil())?.until ?? 0,
    run: (claims, signal) => syncRecords({ store, metrics, log, now }, crm, claims, signal),
  });
}

function startHeal(common: Common, metrics: Metrics, crm: Crm): Worker {
  const { store, now } = common;
  return startWorker({
    ...common,
    queue: `heal:${crm.name}`,
    batch: crm.limits.batch.read,
    concurrency: 1,
    blockedUntil: async () => (await crm.rateLimiter.blockedUntil())?.until ?? 0,
    run: (claims, signal) => healRecords({ store, metrics, now }, crm, claims, signal),
  });
}

function startMatch(common: Common, crm: Crm): Worker {
  const { store, now } = common;
  return startWorker({
    ...common,
    queue: `match:${crm.name}`,
    batch: crm.limits.batch.read,
    concurrency: 1,
    blockedUntil: async () => (await crm.rateLimiter.blockedUntil())?.until ?? 0,
    run: (claims, signal) => suggestMatches({ store, now }, crm, claims, signal),
  });
}

function startMonitoring(
  common: Common,
  { store, metrics, log, now }: ConnectorDeps,
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

/** A worker of what people ask for on pages. */
const startRuns = <I>(common: Common, deps: ConnectorDeps, work: TaskWork<I>): Worker =>
  startWorker({
    ...common,
    queue: work.task.queue,
    batch: 1,
    concurrency: 1,
    run: (claims, signal) => workOnRuns(deps, work, claims, signal),
  });

async function connectUpstream(
  { http, metrics, now }: ConnectorDeps,
  { upstream: config }: ConnectorSettings,
  rateLimiter: RateLimiter,
): Promise<Upstream | undefined> {
  return config === undefined
    ? undefined
    : openUpstream({ ...config, baseUrl: await config.baseUrl, http, rateLimiter, metrics, now });
}

/** The function's one result, made when it is first asked for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Each queue may feed the next, so one round is not enough: until none has anything due. */
async function drain(workers: readonly Worker[], store: Store, now: () => number): Promise<void> {
  for (;;) {
    for (const worker of workers) await worker.drained();
    // Before the lanes: an arrival becomes a lane, and in the other order it could be seen as neither.
    const arrives = await hasArrivals(store.db);
    const left = (await counts(store.db, now())).filter(
      ({ queue, ready, leased }) => queue !== 'housekeeping' && queue !== POLL_QUEUE && ready + leased > 0,
    );
    if (left.length === 0 && !arrives) return;
  }
}

async function measure({ metrics }: ConnectorDeps, crms: readonly Crm[]): Promise<void> {
  for (const crm of crms)
    metrics.accountPaused.set({ provider: crm.name }, (await crm.rateLimiter.blockedUntil()) === undefined ? 0 : 1);
}
