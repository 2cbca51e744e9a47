/** The daemon: configuration → store → halves → server. The only file that knows every part. */

import type { Logger } from 'pino';
import type { AlertDeps, Alerts } from './alerts/alerts.ts';
import { configDigests } from './config/digests.ts';
import type { Config } from './config/load.ts';
import { allowsBeneficialOwners, wireOf } from './config/load.ts';
import { redact } from './config/redact.ts';
import type { DaemonRole } from './config/schema/roles.ts';
import { configSchema } from './config/schema/schema.ts';
import { configWarnings } from './config/warnings.ts';
import { acceptOwn, configurationOf } from './configuration.ts';
import { type Connector, startConnector } from './connector/connector.ts';
import { addCrmWebhookRoute } from './connector/heal/webhook.ts';
import { arrivedSince } from './connector/intake/arrivals.ts';
import { addWebhookRoute } from './connector/intake/webhook.ts';
import { retryRefused } from './connector/monitoring/monitoring.ts';
import { measureReview } from './connector/review/review-list.ts';
import { createTestViewer } from './connector/test-event.ts';
import { addressFor, adminTokenOf, ownAddress, secretsOf, upstreamOf } from './halves.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { type Addresses, describeRoutes, joinDocuments } from './http/openapi/openapi.ts';
import type { SentNames } from './http/openapi/webhook.ts';
import { openClient } from './http/outbound/client.ts';
import { readOutages, shownOutage } from './http/outbound/outage.ts';
import { addHealthRoutes, addInsightRoutes, type Readiness } from './http/platform.ts';
import type { AdminGuardOptions } from './http/server/admin-guard.ts';
import { listenError } from './http/server/listen-error.ts';
import { isLoopback } from './http/server/networks.ts';
import { createServer, type StrangerCounts } from './http/server/server.ts';
import { differingKeys, type Reloaded, withReloaded } from './reload.ts';
import { type Backups, endBackups, startBackups } from './runtime/backups/backups.ts';
import { joinDaemons, measureRoles, saltOf } from './runtime/daemons.ts';
import { measureWork } from './runtime/lanes/measure.ts';
import type { AuditActor } from './runtime/operators/audit.ts';
import { createStoreWatch } from './runtime/store-watch.ts';
import type { StrayError } from './runtime/stray-error.ts';
import type { OwnConnector } from './service/delivery/own-jobs.ts';
import { copyKey } from './service/keys/copy-key.ts';
import type { Service } from './service/service.ts';
import { openStore } from './store/engines/open.ts';
import { StoreGoneError } from './store/file/place.ts';
import { readGapsToClose } from './store/recovery/gap.ts';
import type { Store } from './store/store.ts';
import { logSpans } from './telemetry/log-spans.ts';
import { traceWith } from './telemetry/trace.ts';
import { readVersion } from './version.ts';

export interface AppOptions {
  readonly log: Logger;
  /** Proxies are read from here. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now?: () => number;
  /** The deadline of one call to a CRM or to upstream, in ms; the client's where absent. */
  readonly deadlineMs?: number;
  /** Who accepts whatever the configuration changes in how linked records are decided; nobody where absent. */
  readonly rulesAcceptedBy?: AuditActor;
  /** Whether an empty store may take the place of one that was made there and is gone; false if absent. */
  readonly startEmpty?: boolean;
  /** How often the daemon says that it runs, in ms; 10 s where absent. */
  readonly beatMs?: number;
}

export interface App {
  /** Where it listens for everybody. */
  readonly url: string;
  /** Where it listens for operators. */
  readonly adminUrl: string;
  readonly store: Store;
  readonly connector: Connector | undefined;
  readonly service: Service | undefined;
  readonly alerts: Alerts | undefined;
  /** Answers 503, finishes what runs, gives the rest back: for later if a stray error is why. */
  close(graceMs: number, stray?: StrayError): Promise<void>;
  /** Takes up what of a configuration counts without a restart. */
  reload(read: Config): Promise<Reloaded>;
}

/** Starts everything; if a part fails, what had started is closed again and the error is thrown. */
export async function startApp(config: Config, options: AppOptions): Promise<App> {
  const { log, now = Date.now } = options;
  const undo: Undo = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  const stop: { isStopping: boolean; graceMs: number; stray?: StrayError } = { isStopping: false, graceMs: 0 };
  warnOf(config, log);
  try {
    const base = await openBase(config, options, undo);
    const { store } = base;
    // All at once: they share the time that is left.
    const halves: (() => Promise<unknown>)[] = [];
    undo.push(() => Promise.all(halves.map((end) => end())));
    const own = Promise.withResolvers<string>();
    const { service, connector, adminToken } = await createHalves(config, base, own.promise);
    await acceptOwn(config, { ...base, by: options.rulesAcceptedBy?.name });
    if (service !== undefined) halves.push(() => service.stop(stop.graceMs, stop.stray));
    if (connector !== undefined) halves.push(() => connector.stop(stop.graceMs, stop.stray));
    // After the halves: the service makes the key that belongs to a copy.
    const backups = await backupsOf(config, base);
    if (backups !== undefined) halves.push(() => backups.stop(stop.graceMs, stop.stray));
    const addresses = Promise.withResolvers<Addresses>();
    addConnectorRoutes(config, base, connector);
    const pages = await addPages(
      config,
      { ...base, own: addressFor('service', config, own.promise) },
      connector,
      service,
    );
    addPlatformRoutes(base, {
      ready: () => readiness(store, connector, stop.isStopping, now()),
      measure: async () => {
        await connector?.measure();
        await service?.measure();
        await backups?.measure();
      },
      addresses: addresses.promise,
      names: config.service ?? {},
      guard: config.admin.openMetrics ? undefined : { adminToken, ...pages },
    });
    const adminUrl = await listen(base.admin, config.admin, 'admin');
    const url = await listen(base.server, config.server, 'server');
    const publicUrl = config.server.publicUrl ?? url;
    addresses.resolve({ publicUrl, adminUrl });
    const address = ownAddress(config.server.host, Number(new URL(url).port));
    if (config.roles.includes('service')) {
      const started = await service?.start({ publicUrl, ...ownConnector(config, address) });
      await retryRefused(store, started?.newJobs ?? [], now);
    }
    // Only now does the service know the key of our own connector: an earlier call would pause its account.
    own.resolve(address);
    const alerts = await alertsOf(config, { ...base.alerting, store, now, log, place: publicUrl });
    if (alerts !== undefined) halves.push(() => alerts.stop(stop.graceMs, stop.stray));
    log.info(
      {
        ...{ url, admin: adminUrl, version: readVersion(), store: shownStore(config), roles: config.roles },
        providers: connector?.crms.map((crm) => crm.name) ?? [],
      },
      'ready',
    );
    return {
      ...{ url, adminUrl, store, connector, service, alerts },
      reload: (read) => reload(base, connector, read),
      async close(graceMs, stray) {
        Object.assign(stop, { isStopping: true, graceMs, stray });
        await close();
      },
    };
  } catch (error) {
    await close().catch((err) => log.error({ err }, 'could not close everything'));
    throw error;
  }
}

async function reload(base: Base, connector: Connector | undefined, read: Config): Promise<Reloaded> {
  const { live, renew, retrace } = base;
  const inForce = withReloaded(live.config, read);
  const changed = differingKeys(live.config, inForce);
  retrace();
  live.config = inForce;
  if (inForce.connector !== undefined) await connector?.reload(inForce.connector.providers);
  await renew(inForce);
  await acceptOwn(inForce, base);
  return { changed, needsRestart: differingKeys(inForce, read) };
}

/** Listens if a section of the configuration says. */
const listen = (server: Base['server'], { host, port }: Config['server' | 'admin'], section: string): Promise<string> =>
  server.listen({ host, port }).catch((error) => {
    throw listenError(error, { host, port }, { host: `${section}.host`, port: `${section}.port` });
  });

/** The store's address without its secrets. */
const shownStore = ({ store }: Config): unknown => redact(configSchema.properties.store, store);

/** What ends what was started, to be called from the last to the first. */
type Undo = (() => Promise<unknown>)[];

/** What both halves stand on. */
type Base = Awaited<ReturnType<typeof openBase>>;

async function openBase(config: Config, options: AppOptions, undo: Undo) {
  const { log, env, now = Date.now, deadlineMs, beatMs, rulesAcceptedBy, startEmpty = false } = options;
  const application = `cvrsync ${readVersion()} ${config.roles.join(',')}`;
  const connections = config.storeConnections;
  const store = await openStore(config.store, { claim: true, startEmpty, connections, application });
  undo.push(() => store.close());
  const metrics = createMetrics();
  const salt = await saltOf(store, now());
  const digests = await configDigests(config, salt);
  const beat = beatMs === undefined ? {} : { beatMs };
  const watch = createStoreWatch({ now, log, metrics });
  const membership = await joinDaemons({ store, digests, roles: config.roles, now, log, metrics, watch, ...beat });
  undo.push(() => membership.leave());
  const retrace = await openTracing(config, { metrics, log, daemon: membership.id }, undo);
  const client = openClient({ env, ...(deadlineMs !== undefined && { deadlineMs }) });
  undo.push(() => client.close());
  const counts: StrangerCounts = {
    refused: (what) => metrics.turnedAway.inc({ what }),
    unproven: (route) => metrics.unproven.inc({ route }),
  };
  const server = createServer({ log, counts, trustProxy: config.server.trustProxy });
  const admin = createServer({ log, counts, trustProxy: config.admin.trustProxy });
  undo.push(() => Promise.all([server.close(), admin.close()]));
  const documents = { open: await describeRoutes(server), admin: await describeRoutes(admin) };
  const { retention } = config;
  const known = { store, retention, metrics, http: client.http, daemon: membership.id, rulesAcceptedBy };
  const alerting = { daemon: membership.name, outage: watch.outage, ...(beatMs !== undefined && { everyMs: beatMs }) };
  const live = { config };
  const renew = async (inForce: Config) => membership.renew(await configDigests(inForce, salt));
  return { ...known, server, admin, documents, log, now, alerting, live, renew, retrace };
}

/** The packages that trace are loaded if somebody asks for it. Returns what follows another level of the log. */
async function openTracing(
  { telemetry }: Config,
  { metrics, log, daemon }: { readonly metrics: Metrics; readonly log: Logger; readonly daemon: string },
  undo: Undo,
): Promise<() => void> {
  const { registry } = metrics;
  const sent =
    telemetry &&
    (await import('./telemetry/open-telemetry.ts')).openTelemetry(telemetry, {
      ...{ version: readVersion(), daemon, registry, log },
    });
  const retrace = (): void => traceWith(log.isLevelEnabled('trace') ? logSpans(log, sent?.tracing) : sent?.tracing);
  retrace();
  undo.push(async () => {
    traceWith(undefined);
    await sent?.close();
  });
  return retrace;
}

/** `own`: this process's own address, once it is known. */
async function createHalves(config: Config, base: Base, own: Promise<string>) {
  const does = (role: DaemonRole): boolean => config.roles.includes(role);
  const secrets = await secretsOf(config);
  const adminToken = await adminTokenOf(config);
  const service =
    config.service === undefined || secrets === undefined
      ? undefined
      : // Loaded if it is configured: a connector alone has the memory for itself.
        (await import('./service/service.ts')).createService(
          { ...base, secrets },
          does('service') ? base.server : undefined,
          { ...config.service, beneficialOwners: allowsBeneficialOwners(config) },
        );
  const upstream = await upstreamOf(config, secrets, addressFor('service', config, own));
  const { rulesAcceptedBy } = base;
  const work = { ingest: does('ingest'), sync: does('sync'), rulesAcceptedBy };
  const connector =
    config.connector && (await startConnector(base, { ...config.connector, ...work, upstream, wire: wireOf(config) }));
  await addAdmin(base, service, connector, adminToken);
  return { service, connector, adminToken };
}

async function addAdmin(
  base: Base,
  service: Service | undefined,
  connector: Connector | undefined,
  adminToken: string | undefined,
) {
  const { admin, store, now, live } = base;
  const { addAdminApi } = await import('./admin-api/admin-api.ts');
  const { installedOf } = await import('./operations/status.ts');
  const management = service?.management;
  const crms = connector?.crms ?? [];
  const configuration = configurationOf(live, { store, now, crms, look: connector?.lookAtRules });
  addAdminApi(admin, {
    ...{ store, now, adminToken, configuration, connector, wake: connector?.wake },
    ...{ installed: () => installedOf(live.config), register: management?.register },
    service: management && { ...management, options: management.monitorOptions },
  });
}

function addConnectorRoutes(config: Config, base: Base, connector: Connector | undefined): void {
  if (connector === undefined || config.connector === undefined || !config.roles.includes('ingest')) return;
  const { webhook, emailEvent } = config.connector;
  const { crms, intake } = connector;
  const { publicUrl } = config.server;
  const showTest = createTestViewer({ ...base, ...wireOf(config), crms });
  addWebhookRoute(base.server, {
    ...{ ...base, ...webhook, intake, showTest, emailEvent },
    get auth() {
      return base.live.config.connector?.webhook.auth ?? [];
    },
  });
  addCrmWebhookRoute(base.server, { ...base, crms, publicUrl, refusal: intake.refusal });
}

/** The single sign-on of the dashboard; undefined if none is configured. */
const signOnOf = ({ admin: { oidc, publicUrl } }: Config) =>
  oidc === undefined || publicUrl === undefined ? undefined : { ...oidc, publicUrl };

/** The operators' pages, on the admin listener. */
async function addPages(
  config: Config,
  base: Base & { readonly own: Promise<string> | string },
  connector: Connector | undefined,
  service: Service | undefined,
) {
  const halves = { connector: connector !== undefined, service: service !== undefined };
  // Loaded here: commands need none of it.
  const { addDashboard } = await import('./dashboard/dashboard.ts');
  const hasUpstream = connector?.hasUpstream === true;
  const { installationOf } = await import('./installation.ts');
  const more = { service: service?.management, crms: connector?.crms ?? [], hasUpstream };
  const installation = installationOf(base.live, base);
  const configuration = configurationOf(base.live, { ...base, crms: more.crms, look: connector?.lookAtRules });
  return addDashboard(base.admin, {
    ...base,
    ...more,
    configuration,
    halves,
    wake: connector?.wake,
    ...wireOf(config),
    installation,
    viewersSeePersons: config.admin.viewersSeePersons,
    singleSignOn: signOnOf(config),
  });
}

/** Health for everybody, metrics and the description of the API for operators. */
function addPlatformRoutes(
  { server, admin, documents, metrics, store, now }: Base,
  app: {
    readonly ready: () => Promise<Readiness>;
    readonly measure: () => Promise<void>;
    readonly addresses: Promise<Addresses>;
    readonly names: SentNames;
    readonly guard: AdminGuardOptions | undefined;
  },
): void {
  addHealthRoutes(server, app.ready);
  addHealthRoutes(admin, app.ready, { hide: true });
  metrics.measureBy(async () => {
    await app.measure();
    await measureRoles(store.db, metrics.rolesMissing, now());
    await measureWork(store, metrics, { now: now(), arrivedSince: await arrivedSince(store.db) });
    await measureReview(store.db, metrics.reviewItems, now());
    metrics.storeGaps.set((await readGapsToClose(store.db)).length);
  });
  addInsightRoutes(admin, {
    registry: metrics.registry,
    openapi: async () => joinDocuments(documents.open(), documents.admin(), await app.addresses, app.names),
    guard: app.guard,
  });
}

async function backupsOf({ store: file, backup, service }: Config, base: Base): Promise<Backups | undefined> {
  if (backup === undefined) return void (await endBackups(base.store));
  // A configured key belongs to no file.
  const copyKeyTo = async (to: string) => (service?.secretKey === undefined ? copyKey(file, to) : undefined);
  return startBackups({ ...base, file, copyKey: copyKeyTo }, backup);
}

/** Loaded if they are configured, as the halves are. */
async function alertsOf({ alerts }: Config, deps: AlertDeps): Promise<Alerts | undefined> {
  return alerts && (await import('./alerts/alerts.ts')).startAlerts(deps, alerts);
}

/** What somebody should see who starts it and never runs `check`. */
function warnOf(config: Config, log: Logger): void {
  for (const { subject, found, advice, isKnown } of configWarnings(config, isLoopback))
    if (isKnown === undefined) log.warn({ setting: subject, advice }, found);
  const { host, exposed } = config.admin;
  if (!isLoopback(host) && !exposed)
    log.warn({ setting: 'admin.host', advice: 'see cvrsync check' }, 'the administration is reached from outside');
}

/** The connector as a service of the same configuration tells it of changes; nothing if it has another service. */
function ownConnector(config: Config, own: string): { readonly connector?: OwnConnector } {
  const { connector } = config;
  if (connector === undefined || connector.upstream !== undefined) return {};
  const { webhook, providers } = connector;
  const address = addressFor('ingest', config, own);
  const [auth = { method: 'None' as const }] = webhook.auth;
  return { connector: { url: `${address}${webhook.path}`, auth, providers: providers.map(({ name }) => name) } };
}

async function readiness(
  store: Store,
  connector: Connector | undefined,
  stopping: boolean,
  now: number,
): Promise<Readiness> {
  const down = await store.ping().then(
    () => undefined,
    (error) =>
      error instanceof StoreGoneError ? 'the file of the store was moved or deleted' : 'the store does not answer',
  );
  const reasons = [stopping ? 'stopping' : undefined, down, connector?.intake.refusal()].filter(
    (each) => each !== undefined,
  );
  const outages = down === undefined ? await readOutages(store.db, now) : [];
  return { ok: reasons.length === 0, reasons, details: outages.map(shownOutage) };
}
