/** The service: its endpoints, its workers, and the order in which they start and stop. */
import type { Logger } from 'pino';
import type { Metrics } from '../http/metrics.ts';
import type { OutboundHttp } from '../http/outbound/client.ts';
import { watchOutages } from '../http/outbound/outage.ts';
import type { Server } from '../http/server/server.ts';
import { TASK_BATCH } from '../runtime/housekeeping/periodic-tasks.ts';
import type { Retention } from '../runtime/housekeeping/retention.ts';
import { startRunWorker } from '../runtime/runs/run-worker.ts';
import type { StrayError } from '../runtime/stray-error.ts';
import { createWakeUp, type WakeUp } from '../runtime/wake-up.ts';
import { startWorker, type Worker } from '../runtime/worker.ts';
import type { Store } from '../store/store.ts';
import { startDelivery } from './delivery/deliver.ts';
import { ensureOwnJobs, type OwnConnector } from './delivery/own-jobs.ts';
import { replayWork } from './delivery/replay/replay-work.ts';
import { monitorOptions, openTransports } from './delivery/transport.ts';
import { HOUSEKEEPING_QUEUE, runServiceHousekeeping, seedServiceHousekeeping } from './housekeeping.ts';
import { sendFullStates } from './items/full-state.ts';
import { storeKeyEnd } from './key-end.ts';
import type { Secrets } from './keys/secrets.ts';
import { zonedMail } from './mail/digest-hour.ts';
import { startMail } from './mail/mail-worker.ts';
import { addUnsubscribeRoutes } from './mail/unsubscribe.ts';
import type { Monitor } from './monitors/monitor.ts';
import type { MonitorOptions } from './monitors/monitor-input.ts';
import { listMonitors } from './monitors/monitors.ts';
import { ASK_QUEUE, STATE_QUEUE } from './names/queues.ts';
import { ASK_BATCH, fetchMissing } from './register/watch/fetch-missing.ts';
import { WATCH_QUEUE } from './register/watch/ingest-page.ts';
import { storeComparing } from './register/watch/origins/second-readings.ts';
import { measureRegister, type ReadableSource } from './register/watch/progress.ts';
import { releaseWithheld } from './register/watch/release-withheld.ts';
import { markWatch, startWatch } from './register/watch/watch.ts';
import { WITHHELD_QUEUE } from './register/watch/withheld.ts';
import { type Access, createAccess } from './routes/access.ts';
import { addMonitoringRoutes } from './routes/monitoring.ts';
import { addNewsRoutes } from './routes/news.ts';
import { addTestWebhookRoutes } from './routes/testwebhook.ts';
import type { ServiceSettings } from './service-settings.ts';
import { openRegister, registersOf, watchDeps, watchTasks } from './sources.ts';
import { type MonitorTest, type TestContent, testMonitor } from './test-webhook/test-monitor.ts';

export interface ServiceDeps {
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
  readonly secrets: Secrets;
  readonly retention?: Retention;
}

export interface ServiceManagement {
  readonly secrets: Secrets;
  readonly wakeUp: Pick<WakeUp, 'ring'>;
  readonly monitorOptions: MonitorOptions;
  readonly register: { readonly sources: readonly ReadableSource[]; readonly from: string; readonly canFind: boolean };
  /** Posts one payload to a monitor's webhook; `entity` is canonical. */
  readonly testMonitor: (monitor: Monitor, content: TestContent) => Promise<MonitorTest>;
  readonly access: Pick<Access, 'checkKey'>;
}

export interface ServiceStart {
  /** Connections of our own connector that got their job at this start. */
  readonly newJobs: readonly string[];
}

/** A service that does no work before `start`. */
export interface Service {
  readonly secrets: Secrets;
  readonly management: ServiceManagement;
  /** Starts the workers. Call it once the server listens; `publicUrl` is its public address. */
  start(at: { readonly publicUrl: string; readonly connector?: OwnConnector }): Promise<ServiceStart>;
  look(): Promise<void>;
  measure(): Promise<void>;
  /** Resolves when no queue has due work. */
  drained(): Promise<void>;
  stop(graceMs: number, stray?: StrayError): Promise<void>;
}

const STATES = 20;

/**
 * Adds the service's endpoints to a listener that does not listen yet; adds none if another daemon serves the public.
 */
export function createService(deps: ServiceDeps, server: Server | undefined, settings: ServiceSettings): Service {
  const { store, now, log, secrets } = deps;
  const parts = openParts(deps, settings);
  const { wakeUp, transports, register, tasks } = parts;
  const access = createAccess({ store, now, log, requestsPerMinute: settings.requestsPerMinute });
  if (server !== undefined) addRoutes(server, access, parts, settings);
  let workers: readonly Worker[] = [];

  return {
    secrets,
    management: { ...managementOf(deps, parts, settings), access },
    async start({ publicUrl, connector }) {
      if (connector !== undefined) transports.openOwn(connector.url);
      parts.own.connector = connector;
      // Fails now if the key is wrong, not at every delivery.
      await listMonitors(store.db, secrets, { limit: 1 });
      const newJobs = await store.write(async (tx) => {
        const made = connector === undefined ? [] : await ensureOwnJobs(tx, secrets, connector, now());
        await seedServiceHousekeeping(tx, now(), settings);
        await markWatch(tx, tasks, now());
        await storeKeyEnd(tx, registersOf(settings), now());
        await storeComparing(
          tx,
          register.sources.map(({ origin }) => origin),
          now(),
        );
        return made;
      });
      workers = startWorkers(parts, settings, publicUrl);
      return { newJobs };
    },
    async look() {
      await store.write((tx) => markWatch(tx, tasks, now()));
      wakeUp.ring(WATCH_QUEUE);
    },
    measure: () => measureRegister(store.db, register.sources, deps.metrics, now()),
    async drained() {
      // In the order of the queues: see startWorkers.
      for (const worker of workers) await worker.drained();
    },
    async stop(graceMs, stray) {
      await Promise.all(workers.map((worker) => worker.stop(graceMs, stray)));
      for (const source of register.sources) await source.close?.();
      await transports.close();
    },
  };
}

function openParts(deps: ServiceDeps, settings: ServiceSettings) {
  const { store, metrics, log, now, secrets } = deps;
  const { webhooks, emailEvent, beneficialOwners = false } = settings;
  const wakeUp = createWakeUp();
  const { retention } = deps;
  const common = { store, wakeUp, now, log, metrics, secrets, retention };
  const transports = openTransports({ allowPrivate: webhooks.allowPrivateAddresses, allow: webhooks.allow });
  const { http, ownTransport } = transports;
  const { deprecatedReport } = settings.reports;
  const posting = { http, ownTransport, emailEvent, beneficialOwners, deprecatedReport };
  const register = openRegister(settings, deps);
  const sourceDeps = { ...common, http: watchOutages({ store, now, log }).watchHosts(deps.http) };
  const tasks = watchTasks(sourceDeps, register, settings);
  // Prometheus sees no increase in a series that begins with its first document.
  metrics.documents.inc({ result: 'unreadable' }, 0);
  const own: { connector: OwnConnector | undefined } = { connector: undefined };
  return { wakeUp, common, transports, posting, register, sourceDeps, tasks, own };
}

type Parts = ReturnType<typeof openParts>;

function managementOf(
  { secrets }: ServiceDeps,
  { wakeUp, common, posting, register }: Parts,
  settings: ServiceSettings,
): Omit<ServiceManagement, 'access'> {
  const { placeType } = settings;
  const { sources, from } = register;
  const testing = { ...common, ...posting, placeType };
  return {
    secrets,
    wakeUp,
    monitorOptions: monitorOptions(settings),
    register: { sources, from, canFind: sources.some(({ find }) => find !== undefined) },
    testMonitor: (monitor, content) => testMonitor(testing, monitor, content, new AbortController().signal),
  };
}

function addRoutes(server: Server, access: Access, { common, posting, own }: Parts, settings: ServiceSettings): void {
  const { store, now, secrets } = common;
  const { placeType } = settings;
  addMonitoringRoutes(server, { ...common, access, ownConnector: () => own.connector });
  addNewsRoutes(server, { store, access });
  addTestWebhookRoutes(server, { store, access, now, placeType, ...posting });
  addUnsubscribeRoutes(server, { store, secrets, now });
}

/** Starts a worker for each queue; each queue feeds only later ones. */
function startWorkers(parts: Parts, settings: ServiceSettings, publicUrl: string): readonly Worker[] {
  const { common, posting, register, sourceDeps, tasks } = parts;
  const { sources } = register;
  const { webhooks, placeType, news, reports, beneficialOwners = false, timeZone } = settings;
  const smtp = zonedMail(settings);
  const leased = { ...common, leaseMs: settings.leaseSeconds * 1_000 };
  const delivery = {
    ...leased,
    ...posting,
    concurrency: webhooks.concurrency,
    schedule: webhooks.retrySeconds,
    admin: smtp?.admin,
    timeZone,
  };
  const { deprecatedReport } = reports;
  const states = { ...common, digest: smtp, placeType, beneficialOwners, deprecatedReport };
  const one = { ...leased, concurrency: 1 };
  return [
    startWatch(leased, tasks),
    startWorker({
      ...one,
      queue: ASK_QUEUE,
      batch: ASK_BATCH,
      run: (claims, signal) => fetchMissing(watchDeps(sourceDeps, settings, sources), sources, claims, signal),
    }),
    startWorker({
      ...one,
      queue: WITHHELD_QUEUE,
      batch: 1,
      async run(claims) {
        for (const claim of claims) await releaseWithheld(watchDeps(sourceDeps, settings, sources), claim);
      },
    }),
    startWorker({
      ...one,
      queue: STATE_QUEUE,
      batch: STATES,
      run: (claims, signal) => sendFullStates(states, claims, signal),
    }),
    startRunWorker(leased, replayWork({ ...common, ring: (queue) => common.wakeUp.ring(queue) })),
    startDelivery(delivery),
    startMail({ ...leased, publicUrl, baseUrl: news.baseUrl, smtp, beneficialOwners }),
    startWorker({
      ...one,
      queue: HOUSEKEEPING_QUEUE,
      batch: TASK_BATCH,
      run: (claims, signal) => runServiceHousekeeping(common, claims, signal),
    }),
  ];
}
