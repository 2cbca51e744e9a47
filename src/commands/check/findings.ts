/** The findings of `check` once it has a store: configuration, both halves, daemons, index, admin listener, alerts. */
import { alertFindings } from '../../alerts/check.ts';
import { allowsBeneficialOwners, type Config } from '../../config/load.ts';
import { configWarnings } from '../../config/warnings.ts';
import { type CheckOptions, connectorFindings } from '../../connector/check.ts';
import { lackOfSpace } from '../../connector/intake/free-space.ts';
import { callbackUrl, discoverIssuer } from '../../dashboard/sign-in/issuer.ts';
import { secretsOf, serviceAddress, upstreamOf } from '../../halves.ts';
import { createMetrics } from '../../http/metrics.ts';
import type { OutboundHttp } from '../../http/outbound/client.ts';
import { isLoopback } from '../../http/server/networks.ts';
import { errorText, fullErrorText } from '../../protocol/text/error-text.ts';
import type { Finding, Findings } from '../../runtime/finding.ts';
import { serviceFindings } from '../../service/check.ts';
import type { Secrets } from '../../service/keys/secrets.ts';
import { isPostgresUrl, type Store } from '../../store/store.ts';
import { adminFindings } from './admin.ts';
import { acceptedFindings, clockFindings, daemonFindings } from './daemons.ts';
import { gapFindings } from './gaps.ts';
import { indexFindings } from './index-state.ts';

export interface CheckSubject {
  readonly config: Config;
  readonly store: Store;
  readonly http: OutboundHttp;
  /** The address of the service in this installation; the configured one by default. */
  readonly own?: string | undefined;
}

/** A missing answer when the signal aborts is a finding too. */
export async function allFindings(
  { config, store, http, own }: CheckSubject,
  signal: AbortSignal,
  options: CheckOptions = {},
): Promise<Findings> {
  const deps = { store, http, own, metrics: createMetrics(), now: Date.now };
  return [
    ...(await halfFindings(deps, config, signal, options)),
    ...(await gapFindings(store.db, config)),
    ...(await daemonFindings(store, config)),
    ...(await acceptedFindings(store, config)),
    ...(await clockFindings(store, Date.now())),
    ...(await indexFindings(store.db, wantsMatches(config))),
    ...(await adminFindings({ config, store, http }, signal)),
    ...(await singleSignOnFindings(config, http)),
    ...(await alertFindings(config.alerts, signal)),
  ];
}

export const quickFindings = async ({ config, store }: Pick<CheckSubject, 'config' | 'store'>): Promise<Findings> => [
  ...warningsOf(config),
  ...(await diskFindings(store, config)),
  ...(await gapFindings(store.db, config)),
  ...(await daemonFindings(store, config)),
  ...(await acceptedFindings(store, config)),
  ...(await clockFindings(store, Date.now())),
  ...(await indexFindings(store.db, wantsMatches(config))),
];

/** Whether a connection suggests companies, for which it needs the company index. */
const wantsMatches = ({ connector }: Config): boolean =>
  connector?.providers.some(({ autoMatch }) => autoMatch !== undefined) ?? false;

const MIB = 1024 * 1024;

/** A finding if the disk is nearly full; a failure if the webhook refuses events because of it. */
export async function diskFindings(store: Store, { connector }: Pick<Config, 'connector'>): Promise<Findings> {
  const subject = 'store';
  const free = await store.freeBytes();
  const lack = connector === undefined ? undefined : lackOfSpace(free);
  if (lack !== undefined)
    return [{ level: 'fail', subject, found: `${lack}: webhooks are refused`, advice: 'make room on that disk' }];
  if (free === undefined || free >= 512 * MIB) return [];
  const found = `${Math.floor(free / MIB)} MiB free on its disk`;
  return [{ level: 'warn', subject, found, advice: 'make room: webhooks are refused when it is full' }];
}

export const warningsOf = (config: Config): Findings =>
  configWarnings(config, isLoopback).map(({ isKnown, ...rest }) => ({ level: isKnown ? 'info' : 'warn', ...rest }));

type Deps = Parameters<typeof connectorFindings>[0] & Pick<CheckSubject, 'own'>;

async function halfFindings(deps: Deps, config: Config, signal: AbortSignal, options: CheckOptions): Promise<Findings> {
  const { connector, service, server } = config;
  const opened = await tryKey(config);
  if (opened.finding !== undefined) return [opened.finding];
  const { secrets } = opened;
  const isOwn = service !== undefined && connector?.upstream === undefined;
  const upstream = await upstreamOf(config, secrets, deps.own ?? serviceAddress(config));
  const [ofConnector, ofService] = await Promise.all([
    connector === undefined
      ? NO_CONNECTOR
      : connectorFindings(deps, withUpstream({ ...connector, server }, upstream), signal, options),
    service === undefined || secrets === undefined
      ? []
      : serviceFindings(
          { ...deps, secrets },
          { server, service: { ...service, beneficialOwners: allowsBeneficialOwners(config) } },
          signal,
        ),
  ]);
  return [...(isOwn ? ofConnector.map(ofOwnService) : ofConnector), ...ofService];
}

const NO_CONNECTOR: Findings = [
  { level: 'info', subject: 'connector', found: 'not configured: no CRM is kept in step' },
];

const withUpstream = <C extends { readonly upstream?: unknown }, U>(
  { upstream: _, ...rest }: C,
  upstream: U | undefined,
) => ({
  ...rest,
  ...(upstream !== undefined && { upstream }),
});

/**
 * The service of this installation runs inside the daemon: its silence while the daemon is stopped is not an error of
 * the configuration.
 */
const ofOwnService = (finding: Finding): Finding =>
  finding.subject === 'upstream' && finding.level === 'fail'
    ? {
        level: 'info',
        subject: 'upstream',
        found: `our own service does not answer: ${finding.found}`,
        advice: 'start it with cvrsync serve, then check again',
      }
    : finding;

/** Creates the key file if necessary, as `serve` does. */
async function tryKey(config: Config): Promise<{ readonly secrets?: Secrets | undefined; readonly finding?: Finding }> {
  try {
    return { secrets: await secretsOf(config) };
  } catch (error) {
    const found = errorText(error);
    const isConfigured = config.service?.secretKey !== undefined || isPostgresUrl(config.store);
    const advice = isConfigured ? 'see the setting service.secretKey' : 'repair or restore the key file';
    return { finding: { level: 'fail', subject: 'key', found, advice } };
  }
}

const subject = 'single sign-on';

/** Reads the metadata of the single sign-on issuer, and names the redirect address to register there. */
async function singleSignOnFindings({ admin }: Config, http: OutboundHttp): Promise<Findings> {
  const { oidc, publicUrl } = admin;
  if (oidc === undefined || publicUrl === undefined) return [];
  try {
    const found = await discoverIssuer({ ...oidc, publicUrl }, http, Date.now);
    const { issuer } = found.serverMetadata();
    const advice = `register ${callbackUrl(publicUrl)} there as the redirect address`;
    return [{ level: 'ok', subject, found: `${issuer} answers`, advice }];
  } catch (error) {
    return [
      {
        level: 'fail',
        subject,
        found: fullErrorText(error),
        advice: 'check admin.oidc.issuer; tokens and links still sign in',
      },
    ];
  }
}
