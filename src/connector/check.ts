/** What `check` asks of the world: the monitoring service, each CRM, our own address from outside, work that waits. */
import { ProviderError } from '../../providers/provider.ts';
import type { Finding, Findings } from '../runtime/finding.ts';
import { readAttention } from './attention.ts';
import { checkMapping, type MappingToCheck } from './check-mapping.ts';
import { type CrmConfig, type CrmDeps, openCrm } from './crm.ts';
import { openUpstream, UpstreamError, upstreamPace } from './upstream.ts';

/** The part of the configuration that can be tried. */
export interface ToCheck {
  readonly server: { readonly publicUrl?: string };
  readonly webhook: { readonly path: string; readonly auth: readonly { readonly method: string }[] };
  readonly upstream?: { readonly baseUrl: string; readonly accessKey: string; readonly requestsPerMinute: number };
  readonly providers: readonly (CrmConfig & MappingToCheck)[];
}

/** Tries everything at once; never writes to a CRM. What does not answer before the signal aborts is a finding too. */
export async function connectorFindings(deps: CrmDeps, config: ToCheck, signal: AbortSignal): Promise<Findings> {
  const parts = [
    checkUpstream(deps, config, signal),
    ...config.providers.map((provider) => checkProvider(deps, provider, signal)),
    checkWebhook(deps, config, signal),
    checkAttention(deps),
  ];
  return (await Promise.all(parts)).flat();
}

async function checkUpstream(deps: CrmDeps, { upstream }: ToCheck, signal: AbortSignal): Promise<Findings> {
  const subject = 'upstream';
  if (upstream === undefined)
    return [
      {
        level: 'info',
        subject,
        found: 'not configured: links are kept here, nobody is asked to monitor them',
        advice: 'set connector.upstream',
      },
    ];
  const pace = upstreamPace(deps.store, upstream.requestsPerMinute, deps.now);
  try {
    const jobs = await openUpstream({ ...upstream, http: deps.http, pace, metrics: deps.metrics }).jobs(signal);
    return [{ level: 'ok', subject, found: `${upstream.baseUrl} accepts the key; ${jobs.length} jobs` }];
  } catch (error) {
    const advice =
      error instanceof UpstreamError && error.fault === 'auth'
        ? 'check connector.upstream.accessKey'
        : 'check connector.upstream.baseUrl';
    return [{ level: 'fail', subject, found: reasonOf(error, signal), advice }];
  }
}

async function checkProvider(
  deps: CrmDeps,
  provider: ToCheck['providers'][number],
  signal: AbortSignal,
): Promise<Findings> {
  const { name: subject } = provider;
  try {
    const crm = await openCrm(deps, provider);
    const blocked = await crm.pace.blockedUntil();
    if (blocked !== undefined) {
      const found = `paused until ${new Date(blocked.until).toISOString()}: ${blocked.reason ?? 'no reason kept'}`;
      return [{ level: 'fail', subject, found, advice: 'check again afterwards, or correct the cause first' }];
    }
    const account = await crm.connection.check(signal);
    const properties = await crm.connection.properties(signal);
    return [
      { level: 'ok', subject, found: `${account.name} (${account.id})` },
      ...account.notes.map((found): Finding => ({ level: 'info', subject, found })),
      ...checkMapping(provider, properties),
    ];
  } catch (error) {
    const advice = error instanceof ProviderError ? ADVICE[error.fault] : `look at connector.providers.${subject}`;
    return [{ level: 'fail', subject, found: reasonOf(error, signal), advice }];
  }
}

const ADVICE: Readonly<Record<ProviderError['fault'], string>> = {
  auth: 'renew the credentials in the configuration, and see that they have the rights to read and edit companies',
  refused: 'see that the credentials have the rights to read and edit companies',
  rate: 'try again later, or lower `rate` where other software shares the account',
  locked: 'try again later',
  unavailable: 'check the address, and whether this machine may reach it (HTTPS_PROXY is honoured)',
};

async function checkWebhook({ http }: CrmDeps, { server, webhook }: ToCheck, signal: AbortSignal): Promise<Findings> {
  const subject = 'webhook';
  const findings: Finding[] = [];
  if (webhook.auth.some(({ method }) => method === 'None'))
    findings.push({
      level: 'warn',
      subject,
      found: 'anybody who reaches it is believed (method None)',
      advice: 'set connector.webhook.auth to Header, BasicAuth or Signature',
    });
  const { publicUrl } = server;
  if (publicUrl === undefined)
    return [
      ...findings,
      {
        level: 'info',
        subject,
        found: 'reachability not tried',
        advice: 'set server.publicUrl to how the world reaches this server',
      },
    ];
  const target = `${publicUrl}${webhook.path}`;
  if (publicUrl.startsWith('http:') && !/^http:\/\/(localhost|127\.|\[::1\])/.test(publicUrl))
    findings.push({
      level: 'warn',
      subject,
      found: `${target} is not encrypted`,
      advice: 'put a proxy with TLS in front, and use https',
    });
  const advice = 'is the daemon running, and does the proxy lead to it? Then check again';
  try {
    const { status } = await http({ method: 'GET', url: `${publicUrl}/live`, signal, timeoutMs: 10_000 });
    if (status !== 200)
      return [...findings, { level: 'warn', subject, found: `${publicUrl}/live answers ${status}`, advice }];
    return [
      ...findings,
      { level: 'ok', subject, found: `${publicUrl}/live answers; the monitoring service posts to ${target}` },
    ];
  } catch (error) {
    return [...findings, { level: 'warn', subject, found: reasonOf(error, signal), advice }];
  }
}

async function checkAttention({ store }: CrmDeps): Promise<Findings> {
  const waiting = await readAttention(store.db);
  if (waiting.length === 0) return [{ level: 'ok', subject: 'parked', found: 'nothing needs a person' }];
  return [
    { level: 'warn', subject: 'parked', found: `${waiting.length} things need a person`, advice: 'see cvrsync parked' },
  ];
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'did not answer in time';
  return error instanceof Error ? error.message : String(error);
}
