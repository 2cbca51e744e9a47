/**
 * One configuration at work: the halves, their routes and what runs for them. A daemon that reads its configuration again
 * starts another one beside it, on the same listeners, and then ends this one.
 */
import type { Logger } from 'pino';
import type { AlertDeps, Alerts } from './alerts/alerts.ts';
import type { Config } from './config/load.ts';
import { allowsBeneficialOwners, wireOf } from './config/load.ts';
import { digestOf } from './config/schema/alerts.ts';
import type { DaemonRole } from './config/schema/roles.ts';
import type { Env } from './config/variables.ts';
import { configurationOf, type LiveConfig } from './configuration.ts';
import { type Connector, startConnector } from './connector/connector.ts';
import { openedCrm } from './connector/crm/crm.ts';
import { addCrmWebhookRoute } from './connector/heal/webhook.ts';
import { arrivedSince } from './connector/intake/arrivals.ts';
import { addWebhookRoute } from './connector/intake/webhook.ts';
import { retryRefused } from './connector/monitoring/monitoring.ts';
import { measureReview } from './connector/review/review-list.ts';
import { createTestViewer } from './connector/test-event.ts';
import { addressFor, adminTokenOf, placeOf, secretsOf, upstreamOf } from './halves.ts';
import type { Metrics } from './http/metrics.ts';
import { type Addresses, describeRoutes, joinDocuments } from './http/openapi/openapi.ts';
import type { SentNames } from './http/openapi/webhook.ts';
import type { OutboundHttp } from './http/outbound/client.ts';
import { readOutages, shownOutage } from './http/outbound/outage.ts';
import { addHealthRoutes, addInsightRoutes, type Readiness } from './http/platform.ts';
import type { AdminGuardOptions } from './http/server/admin-guard.ts';
import { answerOn, createServer, type Server, type StrangerCounts } from './http/server/server.ts';
import { type Backups, endBackups, startBackups } from './runtime/backups/backups.ts';
import { measureRoles } from './runtime/daemons.ts';
import { measureWork } from './runtime/lanes/measure.ts';
import type { AuditActor } from './runtime/operators/audit.ts';
import type { StrayError } from './runtime/stray-error.ts';
import type { OwnConnector } from './service/delivery/own-jobs.ts';
import { copyKey } from './service/keys/copy-key.ts';
import type { Service } from './service/service.ts';
import { samplesFolder } from './setup/config-of.ts';
import { StoreGoneError } from './store/file/place.ts';
import { readGapsToClose } from './store/recovery/gap.ts';
import type { Store } from './store/store.ts';

/** What a daemon has whatever its configuration says. */
export interface RunningDeps {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly http: OutboundHttp;
  readonly log: Logger;
  readonly now: () => number;
  readonly startedAt: number;
  /** This daemon among those of the store. */
  readonly daemon: string;
  readonly counts: StrangerCounts;
  readonly alerting: Pick<AlertDeps, 'daemon' | 'outage' | 'everyMs'>;
  readonly rulesAcceptedBy: AuditActor | undefined;
  /** The servers that listen; they have no routes of their own. */
  readonly listeners: { readonly server: Server; readonly admin: Server };
  /** Has the daemon look at once at what was accepted or proposed. */
  readonly look: () => void;
  readonly isStopping: () => boolean;
  /** The file of the configuration, and what reads it again; undefined if there is none to edit. */
  readonly configuredBy?: { readonly file: string; readonly env: Env; readonly reread: () => void } | undefined;
  /** The configuration in force, which may change in what needs no other parts, and the one that was read last. */
  readonly live: LiveConfig;
}

export interface Running {
  readonly config: Config;
  readonly service: Service | undefined;
  readonly connector: Connector | undefined;
  alerts(): Alerts | undefined;
  /** Answers the requests of the listeners from now on. */
  serve(): Promise<void>;
  /** Starts what needs to know where the daemon is reached. */
  begin(at: Reached): Promise<void>;
  /** Finishes what runs, gives the rest back. */
  stop(graceMs: number, stray?: StrayError): Promise<void>;
  /** Ends its servers, once no request reaches them. */
  close(): Promise<void>;
}

/** Where a daemon is reached. */
export interface Reached {
  readonly url: string;
  readonly adminUrl: string;
  /** By this machine. */
  readonly own: string;
}

/** Starts a configuration; it answers no request yet. If a part fails, what had started ends again. */
export async function startRunning(config: Config, deps: RunningDeps): Promise<Running> {
  const { store, now } = deps;
  const ends: Ends = [];
  try {
    const base = await openBase(config, deps);
    const own = Promise.withResolvers<string>();
    const { service, connector, adminToken } = await createHalves(config, base, own.promise, ends);
    // After the halves: the service makes the key that belongs to a copy.
    const backups = await backupsOf(config, base);
    if (backups !== undefined) ends.push(backups.stop);
    const addresses = Promise.withResolvers<Addresses>();
    addConnectorRoutes(config, base, connector);
    const pages = await addPages(
      config,
      { ...base, own: addressFor('service', config, own.promise) },
      connector,
      service,
    );
    addPlatformRoutes(base, {
      ready: () => readiness(store, connector, deps.isStopping(), now()),
      measure: async () => {
        await connector?.measure();
        await service?.measure();
        await backups?.measure();
      },
      addresses: addresses.promise,
      names: config.service ?? {},
      guard: config.admin.openMetrics ? undefined : { adminToken, ...pages },
    });
    let alerts: Alerts | undefined;
    return {
      ...{ config, service, connector },
      alerts: () => alerts,
      async serve() {
        await answerOn(deps.listeners.server, base.server);
        await answerOn(deps.listeners.admin, base.admin);
      },
      async begin({ url, adminUrl, own: address }) {
        const publicUrl = config.server.publicUrl ?? url;
        addresses.resolve({ publicUrl, adminUrl });
        if (config.roles.includes('service')) {
          const started = await service?.start({ publicUrl, ...ownConnector(config, address) });
          await retryRefused(store, started?.newJobs ?? [], now);
        }
        // Only now does the service know the key of our own connector: an earlier call would pause its account.
        own.resolve(address);
        alerts = await alertsOf(config, { ...deps.alerting, store, now, log: deps.log, place: publicUrl });
        if (alerts !== undefined) ends.push(alerts.stop);
      },
      stop: (graceMs, stray) => endAll(ends, graceMs, stray),
      async close() {
        await Promise.all([base.server.close(), base.admin.close()]);
      },
    };
  } catch (error) {
    await endAll(ends, 0).catch((err) => deps.log.error({ err }, 'could not close everything'));
    throw error;
  }
}

/** All at once: they share the time that is left. */
type Ends = ((graceMs: number, stray?: StrayError) => Promise<unknown>)[];

async function endAll(ends: Ends, graceMs: number, stray?: StrayError): Promise<void> {
  await Promise.all(ends.splice(0).map((end) => end(graceMs, stray)));
}

type Base = Awaited<ReturnType<typeof openBase>>;

/** The servers of a configuration, with what all parts stand on. */
async function openBase(config: Config, deps: RunningDeps) {
  const { log, counts, listeners } = deps;
  const server = createServer({ log, counts, trustProxy: config.server.trustProxy, on: listeners.server });
  const admin = createServer({ log, counts, trustProxy: config.admin.trustProxy, on: listeners.admin });
  const documents = { open: await describeRoutes(server), admin: await describeRoutes(admin) };
  return { ...deps, server, admin, documents, retention: config.retention };
}

/** `own`: this process's own address, once it is known. */
async function createHalves(config: Config, base: Base, own: Promise<string>, ends: Ends) {
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
          {
            ...config.service,
            timeZone: config.timeZone,
            beneficialOwners: allowsBeneficialOwners(config),
            besideConnector: config.connector !== undefined && does('sync'),
          },
        );
  const upstream = await upstreamOf(config, secrets, addressFor('service', config, own));
  if (service !== undefined) ends.push(service.stop);
  const { rulesAcceptedBy } = base;
  const work = { ingest: does('ingest'), sync: does('sync'), rulesAcceptedBy };
  const connector =
    config.connector && (await startConnector(base, { ...config.connector, ...work, upstream, wire: wireOf(config) }));
  if (connector !== undefined) ends.push(connector.stop);
  await addAdmin(base, service, connector, adminToken);
  return { service, connector, adminToken };
}

async function addAdmin(
  base: Base,
  service: Service | undefined,
  connector: Connector | undefined,
  adminToken: string | undefined,
) {
  const { admin, store, now, live, look } = base;
  const { addAdminApi } = await import('./admin-api/admin-api.ts');
  const { installedOf } = await import('./operations/installation/status/status.ts');
  const management = service?.management;
  const crms = connector?.crms ?? [];
  const configuration = configurationOf(live, { store, now, crms, look });
  addAdminApi(admin, {
    ...{ store, now, adminToken, configuration, wake: connector?.wake },
    connector: connector && { crms, openCrm: openedCrm(crms) },
    ...{ installed: () => installedOf(live.config), register: management?.register },
    digest: () => digestOf(live.config, placeOf(live.config)),
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
  });
  addCrmWebhookRoute(base.server, { ...base, crms, publicUrl, refusal: intake.refusal });
}

/** What the dashboard edits the configuration by; undefined if there is no file. */
const settingsOf = ({ configuredBy, live }: Base) =>
  configuredBy && {
    ...configuredBy,
    digest: () => digestOf(live.config, placeOf(live.config)),
    place: {
      file: configuredBy.file,
      samples: samplesFolder(),
      server: {},
      get admin() {
        const { publicUrl } = live.config.admin;
        return publicUrl === undefined ? {} : { publicUrl };
      },
      get beneficialOwners() {
        return live.config.beneficialOwners;
      },
    },
  };

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
  const configuration = configurationOf(base.live, { ...base, crms: more.crms });
  return addDashboard(base.admin, {
    ...base,
    ...more,
    configuration,
    halves,
    wake: connector?.wake,
    ...wireOf(config),
    installation,
    settings: settingsOf(base),
    viewersSeePersons: config.admin.viewersSeePersons,
    timeZone: config.timeZone,
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
async function alertsOf(
  { alerts, admin, timeZone }: Config,
  deps: Omit<AlertDeps, 'timeZone'>,
): Promise<Alerts | undefined> {
  const dashboard = admin.publicUrl;
  return alerts && (await import('./alerts/alerts.ts')).startAlerts({ ...deps, dashboard, timeZone }, alerts);
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
