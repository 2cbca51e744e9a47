/** The daemon: its store, its listeners, and the configuration at work, which it replaces while it runs. */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Alerts } from './alerts/alerts.ts';
import { configDigests } from './config/digests.ts';
import type { Config } from './config/load.ts';
import { redact } from './config/redact.ts';
import { configSchema } from './config/schema/schema.ts';
import { configWarnings } from './config/warnings.ts';
import { acceptOwn } from './configuration.ts';
import type { Connector } from './connector/connector.ts';
import { readAllAccepted } from './connector/rules/accepted.ts';
import { ownAddress } from './halves.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { openClient } from './http/outbound/client.ts';
import { listenError } from './http/server/listen-error.ts';
import { isLoopback } from './http/server/networks.ts';
import { createServer, type Server, type StrangerCounts } from './http/server/server.ts';
import { differingKeys, isOfProcess, needsNewParts, openTurns, type Reloaded, withProcess } from './reload.ts';
import { type Reached, type Running, type RunningDeps, startRunning } from './running.ts';
import { listVersions } from './runtime/config-versions.ts';
import { joinDaemons, saltOf } from './runtime/daemons.ts';
import { endBlock } from './runtime/limits/blocks.ts';
import { pause } from './runtime/limits/pause.ts';
import type { AuditActor } from './runtime/operators/audit.ts';
import { createStoreWatch } from './runtime/store-watch.ts';
import type { StrayError } from './runtime/stray-error.ts';
import type { Service } from './service/service.ts';
import { openStore } from './store/engines/open.ts';
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
  /** Has the daemon read its file again: another configuration was accepted. It takes up the last one again if absent. */
  readonly reread?: () => void;
  /** The file of the configuration, which Settings edits; it edits none where absent. */
  readonly configFile?: string;
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
  const { log, beatMs = LOOK_MS } = options;
  const undo: Undo = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  const stop: Stop = { isStopping: false, graceMs: 0 };
  warnOf(config, log);
  try {
    const base = await openBase(config, options, stop, undo);
    const first = await startRunning(config, base);
    const daemon: { running: Running } = { running: first };
    undo.push(() => daemon.running.close());
    const { listeners, store } = base;
    undo.push(() => Promise.all([listeners.server.close(), listeners.admin.close()]));
    undo.push(() => daemon.running.stop(stop.graceMs, stop.stray));
    await base.accept(config, options.rulesAcceptedBy?.name);
    await first.serve();
    const adminUrl = await listen(listeners.admin, config.admin, 'admin');
    const url = await listen(listeners.server, config.server, 'server');
    const reached = { url, adminUrl, own: ownAddress(config.server.host, Number(new URL(url).port)) };
    await first.begin(reached);
    const reloading = openReloading(base, { daemon, reached, stop });
    const following = followVersions(base, beatMs, () => (options.reread ?? reloading.again)());
    undo.push(async () => {
      following.stop();
      await reloading.ended();
    });
    base.onLook(() => {
      following.look();
      daemon.running.connector?.lookAtRules();
    });
    log.info(
      {
        ...{ url, admin: adminUrl, version: readVersion(), store: shownStore(config), roles: config.roles },
        providers: first.connector?.crms.map((crm) => crm.name) ?? [],
      },
      'ready',
    );
    return {
      ...{ url, adminUrl, store },
      get connector() {
        return daemon.running.connector;
      },
      get service() {
        return daemon.running.service;
      },
      get alerts() {
        return daemon.running.alerts();
      },
      reload: reloading.reload,
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

interface Stop {
  isStopping: boolean;
  graceMs: number;
  stray?: StrayError;
}

/** How often a daemon looks whether another configuration was accepted, in ms. */
const LOOK_MS = 10_000;
/** How long what runs by the configuration before may take to end, in ms. */
const HAND_OVER_MS = 20_000;

interface Reloading {
  readonly daemon: { running: Running };
  readonly reached: Reached;
  readonly stop: Stop;
}

/** Takes up configurations, one after the other. */
function openReloading(base: Base, { daemon, reached, stop }: Reloading) {
  const { live } = base;
  const takeUp = async (next: Config): Promise<Reloaded> => {
    if (stop.isStopping) return { changed: [], needsRestart: [] };
    // A file that did not change proposes nothing: what was accepted meanwhile, whatever it says, stays.
    const isChanged = differingKeys(live.read, next).length > 0;
    const inForce = await withKept(base, live.config, next);
    const changed = differingKeys(live.config, inForce);
    base.retrace();
    // First: what is accepted depends on whether the daemons of the store read the same file.
    await base.renew(next);
    try {
      if (needsNewParts(changed)) await replaceRunning(base, { daemon, reached }, inForce);
    } catch (error) {
      await base.renew(live.read);
      throw error;
    }
    Object.assign(live, { config: inForce, read: next });
    if (isChanged) await daemon.running.connector?.propose(next.connector?.providers ?? []);
    await base.accept(next);
    return { changed, needsRestart: differingKeys(inForce, next).filter(isOfProcess) };
  };
  const inTurn = openTurns(takeUp);
  return {
    reload: (next: Config) => inTurn.take(() => next),
    again: () => inTurn.take(() => live.read).then(() => undefined),
    ended: inTurn.ended,
  };
}

/** A configuration that was read, with what only a restart changes, and connections whose removal nobody accepted yet. */
async function withKept({ store }: Base, inForce: Config, read: Config): Promise<Config> {
  const next = withProcess(inForce, read);
  if (next.connector === undefined) return next;
  const accepted = await readAllAccepted(store.db);
  const { providers } = next.connector;
  const kept = (inForce.connector?.providers ?? []).filter(
    ({ name }) => providers.every((one) => one.name !== name) && accepted.get(name)?.isRemoved !== true,
  );
  return { ...next, connector: { ...next.connector, providers: [...providers, ...kept] } };
}

/** Starts the parts of another configuration, lets them answer requests, then stops the former parts. */
async function replaceRunning(
  base: Base,
  { daemon, reached }: Pick<Reloading, 'daemon' | 'reached'>,
  config: Config,
): Promise<void> {
  const before = daemon.running;
  const next = await startRunning(config, { ...base, rulesAcceptedBy: undefined });
  try {
    await next.serve();
    await next.begin(reached);
  } catch (error) {
    await before.serve();
    await next.stop(0);
    await next.close();
    throw error;
  }
  daemon.running = next;
  await before.stop(HAND_OVER_MS);
  await before.close();
  await freeAccounts(base, base.live.config, config);
}

/** A connection was paused for the settings that it had: the new ones are tried at once. */
async function freeAccounts({ store, now }: Base, before: Config, config: Config): Promise<void> {
  const changed = (config.connector?.providers ?? []).filter(({ name, settings }) => {
    const former = before.connector?.providers.find((one) => one.name === name);
    return former !== undefined && !isDeepStrictEqual(former.settings, settings);
  });
  await store.write(async (tx) => {
    for (const { name } of changed) await endBlock(tx, name, now());
  });
}

/** Accepts what needs nobody's word, and says once what cannot be accepted while another daemon runs by another file. */
function openAcceptance({ log, ...deps }: Parameters<typeof acceptOwn>[1] & Pick<AppOptions, 'log'>) {
  let said = '';
  const accept = async (read: Config, by?: string): Promise<void> => {
    const differs = (await acceptOwn(read, { ...deps, by })).join(', ');
    if (differs !== '' && differs !== said)
      log.warn(
        { differs },
        'this file differs from the accepted configuration, by which another daemon runs: it is accepted when no daemon has the other file',
      );
    said = differs;
  };
  return { accept, isWaiting: () => said !== '' };
}

/** Looks now and then whether another configuration was accepted, by whomever, and calls `changed`. */
function followVersions(
  { store, log, live, accept, isWaiting }: Base,
  everyMs: number,
  changed: () => Promise<void> | void,
) {
  const over = new AbortController();
  let known: number | undefined;
  const lookOnce = async (): Promise<void> => {
    const [head] = await listVersions(store.db, { limit: 1 });
    const isNews = known !== undefined && head?.id !== known;
    known = head?.id;
    if (isNews) await changed();
    else if (isWaiting()) await accept(live.read);
  };
  const look = (): Promise<void> =>
    lookOnce().catch((err) => log.warn({ err }, 'could not follow the accepted configuration'));
  void (async () => {
    while (!over.signal.aborted) {
      await look();
      await pause(everyMs, over.signal);
    }
  })();
  return { look: () => void look(), stop: () => over.abort() };
}

/** Listens if a section of the configuration says. */
const listen = (server: Server, { host, port }: Config['server' | 'admin'], section: string): Promise<string> =>
  server.listen({ host, port }).catch((error) => {
    throw listenError(error, { host, port }, { host: `${section}.host`, port: `${section}.port` });
  });

/** The store's address without its secrets. */
const shownStore = ({ store }: Config): unknown => redact(configSchema.properties.store, store);

/** What ends what was started, to be called from the last to the first. */
type Undo = (() => Promise<unknown>)[];

type Base = Awaited<ReturnType<typeof openBase>>;

async function openBase(config: Config, options: AppOptions, stop: Stop, undo: Undo) {
  const { log, env, now = Date.now, deadlineMs, beatMs, rulesAcceptedBy, startEmpty = false, configFile } = options;
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
  const listeners = {
    server: createServer({ log, counts, trustProxy: config.server.trustProxy }),
    admin: createServer({ log, counts, trustProxy: config.admin.trustProxy }),
  };
  const alerting = { daemon: membership.name, outage: watch.outage, ...(beatMs !== undefined && { everyMs: beatMs }) };
  const renew = async (read: Config) => membership.renew(await configDigests(read, salt));
  const looks: (() => void)[] = [];
  const { accept, isWaiting } = openAcceptance({ store, now, daemon: membership.id, log });
  return {
    ...{ store, metrics, http: client.http, log, now, startedAt: now(), daemon: membership.id, counts, alerting },
    ...{ rulesAcceptedBy, listeners, live: { config, read: config }, renew, retrace, accept, isWaiting },
    ...(configFile !== undefined && { configuredBy: { file: configFile, env, reread: () => options.reread?.() } }),
    isStopping: () => stop.isStopping,
    look: () => {
      for (const look of looks) look();
    },
    onLook: (look: () => void) => void looks.push(look),
  } satisfies RunningDeps & Readonly<Record<string, unknown>>;
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

/** What somebody should see who starts it and never runs `check`. */
function warnOf(config: Config, log: Logger): void {
  for (const { subject, found, advice, isKnown } of configWarnings(config, isLoopback))
    if (isKnown === undefined) log.warn({ setting: subject, advice }, found);
  const { host, exposed } = config.admin;
  if (!isLoopback(host) && !exposed)
    log.warn({ setting: 'admin.host', advice: 'see cvrsync check' }, 'the administration is reached from outside');
}
