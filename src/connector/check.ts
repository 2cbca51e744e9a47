/** The findings of `check`: the monitoring service, each CRM, our address from outside, and work that waits. */
import {
  type Account,
  type Connection,
  type MissingRight,
  ProviderError,
  type Right,
} from '../../providers/provider.ts';
import type { EventName } from '../protocol/events.ts';
import { errorText } from '../protocol/text/error-text.ts';
import type { Finding, Findings } from '../runtime/finding.ts';
import type { Db } from '../store/store.ts';
import { storeErrorIn } from '../store/store-error.ts';
import { refusedAbilities } from './crm/ability.ts';
import { isProviderBug } from './crm/answer-check/provider-bug.ts';
import { checkMapping, type MappingToCheck } from './crm/check-mapping.ts';
import { type Crm, type CrmConfig, type CrmDeps, type CrmSettings, openCrm } from './crm/crm.ts';
import { twinsAmong } from './crm/guard.ts';
import { makeProperties, missingProperties, offerProperties } from './crm/make-properties.ts';
import { checkLinks } from './follow/check-links.ts';
import { type LeftConnection, leftText, readAllLeft, readLeft, returnAdvice } from './links/left.ts';
import { checkJobs } from './monitoring/check-jobs.ts';
import { openUpstream, UpstreamError, upstreamRateLimiter } from './monitoring/upstream.ts';
import { totalsText } from './proposals/preview.ts';
import { findProposals, isWaiting, previewProposal, removalPreview } from './proposals/proposals.ts';
import { COUNTED, countReview, shownCount } from './review/review-list.ts';

export interface ToCheck {
  readonly server: { readonly publicUrl?: string };
  readonly webhook: { readonly path: string; readonly auth: readonly { readonly method: string }[] };
  readonly upstream?: {
    readonly baseUrl: string;
    readonly accessKey: string;
    readonly requestsPerMinute: number;
    readonly isOwn?: boolean;
  };
  readonly providers: readonly (CrmConfig & MappingToCheck)[];
}

export interface CheckOptions {
  /** Creates the properties that a mapping needs and an account lacks. */
  readonly createProperties?: boolean;
}

/**
 * Tries everything at once. Writes nothing to a CRM but the properties, if the options ask for them. A part that does
 * not answer before the signal aborts is a finding too.
 */
export async function connectorFindings(
  deps: CrmDeps,
  config: ToCheck,
  signal: AbortSignal,
  options: CheckOptions = {},
): Promise<Findings> {
  const accounts = new Map<string, string>();
  const see = (name: string, account: string): void => void accounts.set(name, account);
  const parts = [
    checkUpstream(deps, config, signal),
    ...config.providers.map((provider) => checkProvider(deps, provider, signal, { ...options, see })),
    checkWebhook(deps, config, signal),
    checkRemovals(deps.store.db, config.providers),
    checkLinks(deps.store.db, config.providers),
    checkReview(deps),
  ];
  return [...(await Promise.all(parts)).flat(), ...(await twinsAmong(deps.store.db, config.providers, accounts))];
}

export async function checkUpstream(
  deps: CrmDeps,
  { upstream, providers }: Pick<ToCheck, 'upstream'> & { readonly providers: readonly { readonly name: string }[] },
  signal: AbortSignal,
): Promise<Findings> {
  const subject = 'upstream';
  if (upstream === undefined)
    return [
      {
        level: 'info',
        subject,
        found: 'not configured: links are stored here only, and no service monitors their companies',
        advice: 'set connector.upstream',
      },
    ];
  const rateLimiter = upstreamRateLimiter(deps.store, upstream.requestsPerMinute, deps.now);
  try {
    const jobs = await openUpstream({ ...upstream, http: deps.http, rateLimiter, metrics: deps.metrics }).jobs(signal);
    const found = `${upstream.baseUrl} accepts the key; ${jobs.length === 1 ? '1 job' : `${jobs.length} jobs`}`;
    return [
      { level: 'ok', subject, found },
      ...checkJobs(
        jobs,
        providers.map(({ name }) => name),
        upstream.isOwn === true ? 'own' : 'other',
      ),
    ];
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
  { createProperties = false, see }: CheckOptions & { readonly see: (name: string, account: string) => void },
): Promise<Findings> {
  const { name: subject } = provider;
  return findingsOf(subject, signal, async () => {
    const left = await readLeft(deps.store.db, subject);
    if (left !== undefined) return [leftFinding(subject, left)];
    const crm = await openCrm({ ...deps, probes: true, isTrial: true }, provider);
    const blocked = await crm.rateLimiter.blockedUntil();
    const { connection } = crm;
    if (blocked !== undefined) return await probePaused(provider, connection, blocked, signal);
    const account = await connection.check(signal);
    see(subject, account.id);
    const before = await connection.properties(signal);
    const missing = missingProperties(provider, before);
    const made = createProperties ? await makeProperties(deps, crm, missing, signal) : [];
    const creatable = connection.defineProperties === undefined ? [] : missing.map(({ name }) => name);
    const properties = made.length === 0 ? before : await connection.properties(signal);
    return [
      ...accountFindings(subject, account),
      ...made,
      ...checkMapping(provider, properties, new Set(creatable)),
      ...(createProperties ? [] : offerProperties(subject, connection, missing)),
      ...checkAbilities(provider, connection),
      ...(await checkRights(provider, connection, missing.length > 0, signal)),
      ...(await refusedAbilities(deps.store, subject, deps.now)),
      ...(await checkRules(subject, connection, signal)),
      ...(await checkProposal(deps, crm, provider, signal)),
    ];
  });
}

/** No call is made to it. */
const leftFinding = (subject: string, left: LeftConnection): Finding => ({
  level: 'info',
  subject,
  found: leftText(subject, left),
  advice: `${returnAdvice(subject)}; or take connector.providers.${subject} out of the file`,
});

/** The connections that the file no longer has. */
async function checkRemovals(db: Db, providers: readonly CrmConfig[]): Promise<Findings> {
  const left = await readAllLeft(db);
  const removals = (await findProposals(db, providers)).filter(
    ({ after, name }) => after === undefined && !left.has(name),
  );
  return Promise.all(
    removals.map(async ({ name }): Promise<Finding> => {
      const found = `it is no longer configured, and that is not accepted yet: ${totalsText(await removalPreview(db, name))}`;
      const advice = `cvrsync config apply ${name} accepts it; or configure it again`;
      return { level: 'warn', subject: `${name} configuration`, found, advice };
    }),
  );
}

async function checkProposal(
  { store, now }: CrmDeps,
  crm: Crm,
  provider: CrmConfig,
  signal: AbortSignal,
): Promise<Findings> {
  const proposal = (await findProposals(store.db, [provider])).find(({ name }) => name === provider.name);
  if (proposal === undefined) return [];
  const subject = `${proposal.name} configuration`;
  const changes = proposal.changes.map((each) => each.subject).join(', ');
  if (!isWaiting(proposal))
    return [{ level: 'info', subject, found: `it changes ${changes}: a rollback set that aside` }];
  const advice = `cvrsync config apply ${proposal.name} accepts it; until then the daemon applies the previous rules`;
  const of = proposal.version === undefined ? 'it' : `a rollback to version ${proposal.version}`;
  const changed = `${of} changes ${changes}, and that is not accepted yet`;
  const counted = await previewProposal({ store, now }, async () => crm, proposal, signal).catch((error: unknown) => {
    return { trouble: reasonOf(error, signal) };
  });
  if ('trouble' in counted)
    return [{ level: 'warn', subject, found: `${changed}; what it would write: ${counted.trouble}`, advice }];
  return [
    { level: 'warn', subject, found: `${changed}: ${totalsText(counted)}`, advice },
    ...counted.examples.map(({ record, property, before, after, isEdit }): Finding => {
      const values = `${JSON.stringify(before)} → ${JSON.stringify(after)}`;
      const found = `${proposal.name}:${record} ${property}: ${values}${isEdit ? ' (a person wrote it)' : ''}`;
      return { level: 'info', subject, found };
    }),
  ];
}

/** Whether a CRM accepts the credentials now, and their rights; also for a paused account. Writes nothing. */
export const checkCredentials = (deps: CrmDeps, provider: CrmSettings, signal: AbortSignal): Promise<Findings> =>
  findingsOf(provider.name, signal, async () => {
    const { connection, rateLimiter } = await openCrm({ ...deps, probes: true, isTrial: true }, provider);
    const blocked = await rateLimiter.blockedUntil();
    if (blocked !== undefined) return await probePaused(provider, connection, blocked, signal);
    return [
      ...accountFindings(provider.name, await connection.check(signal)),
      ...checkAbilities(provider, connection),
      ...(await checkRights(provider, connection, false, signal)),
      ...(await refusedAbilities(deps.store, provider.name, deps.now)),
    ];
  });

export const accountFindings = (subject: string, { name, id, notes }: Account): Findings => [
  { level: 'ok', subject, found: `${name} (${id})` },
  ...notes.map((found): Finding => ({ level: 'info', subject, found })),
];

/** A failed test is a finding. */
async function findingsOf(subject: string, signal: AbortSignal, test: () => Promise<Findings>): Promise<Findings> {
  try {
    return await test();
  } catch (error) {
    const ofStore = storeErrorIn(error);
    if (ofStore !== undefined)
      return [{ level: 'fail', subject: 'store', found: ofStore.message, advice: 'see the setting `store`' }];
    return [failureOf(error, subject, signal)];
  }
}

/** Why a connection could not be tried, and what to do. */
export function failureOf(error: unknown, subject: string, signal: AbortSignal): Finding {
  const advice = adviceFor(error, `look at connector.providers.${subject}`);
  return { level: 'fail', subject, found: reasonOf(error, signal), advice };
}

/** Tries the credentials of a paused account all the same. */
async function probePaused(
  provider: CrmSettings,
  connection: Connection,
  { until, reason }: { readonly until: number; readonly reason: string | null },
  signal: AbortSignal,
): Promise<Findings> {
  const { name: subject } = provider;
  const paused = `paused until ${new Date(until).toISOString()}: ${reason ?? 'no reason stored'}`;
  try {
    const { name, id } = await connection.check(signal);
    const found = `${paused}; ${name} (${id}) accepts the credentials now`;
    const advice = `cvrsync review retry account/${subject} calls it at once; restart the daemon if you changed its configuration`;
    return [{ level: 'warn', subject, found, advice }, ...(await checkRights(provider, connection, false, signal))];
  } catch (error) {
    const found = `${paused}; tried now: ${reasonOf(error, signal)}`;
    const advice = adviceFor(error, 'correct the cause first');
    return [{ level: 'fail', subject, found, advice }];
  }
}

const ADVICE: Readonly<Record<ProviderError['fault'], string>> = {
  auth: 'renew the credentials in the configuration, and make sure that they have the rights to read and edit companies',
  refused: 'make sure that the credentials have the rights to read and edit companies',
  rate: 'try again later, or lower `rate` if other software shares the account',
  locked: 'try again later',
  unavailable: 'check the address, and whether this machine may reach it (HTTPS_PROXY is honoured)',
};

function adviceFor(error: unknown, otherwise: string): string {
  if (isProviderBug(error)) return 'no setting fixes this: report it to the author of the provider';
  return error instanceof ProviderError ? ADVICE[error.fault] : otherwise;
}

function checkAbilities(provider: CrmSettings, connection: Connection): Findings {
  const { name: subject, notes, parent, autoLink, pollMinutes } = provider;
  const lack = (found: string, key: string): Finding => {
    return { level: 'warn', subject, found, advice: `take ${key} out of connector.providers.${subject}` };
  };
  const hears = provider.provider.webhook !== undefined || (connection.changes !== undefined && pollMinutes > 0);
  return [
    ...(notes.length > 0 && connection.notes === undefined
      ? [lack('this provider does not support notes', 'notes')]
      : []),
    ...(parent && connection.parents === undefined ? [lack('this provider does not support parents', 'parent')] : []),
    ...(autoLink && !hears ? [lack('nothing reports new records here', 'autoLink')] : []),
  ];
}

const RULE_KINDS = {
  required: 'must be filled in',
  validation: 'a validation rule',
  duplicate: 'a duplicate rule',
} as const;
const MOST_RULES = 20;

async function checkRules(name: string, connection: Connection, signal: AbortSignal): Promise<Findings> {
  const rules = (await connection.rules?.(signal)) ?? [];
  const subject = `${name} rules`;
  const found = rules.slice(0, MOST_RULES).map((rule): Finding => {
    return { level: 'info', subject, found: `${rule.name} (${RULE_KINDS[rule.kind]}): ${rule.about}` };
  });
  const more = rules.length - found.length;
  return more > 0 ? [...found, { level: 'info', subject, found: `and ${more} more` }] : found;
}

async function checkWebhook({ http }: CrmDeps, { server, webhook }: ToCheck, signal: AbortSignal): Promise<Findings> {
  const subject = 'webhook';
  const findings: Finding[] = [];
  if (webhook.auth.some(({ method }) => method === 'None'))
    findings.push({
      level: 'warn',
      subject,
      found: 'it trusts anyone who reaches it (method None)',
      advice: 'set connector.webhook.auth to Header, BasicAuth or Signature',
    });
  const { publicUrl } = server;
  if (publicUrl === undefined)
    return [
      ...findings,
      {
        level: 'info',
        subject,
        found: 'reachability not tested',
        advice: 'set server.publicUrl to the public address of this server',
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

async function checkReview({ store, now }: CrmDeps): Promise<Findings> {
  const count = await countReview(store.db, now(), { limit: COUNTED + 1 });
  if (count === 0) return [{ level: 'ok', subject: 'review', found: 'nothing needs a person' }];
  return [
    {
      level: 'warn',
      subject: 'review',
      found: count === 1 ? '1 thing needs a person' : `${shownCount(count)} things need a person`,
      advice: 'see cvrsync review',
    },
  ];
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'did not answer in time';
  return errorText(error);
}

interface RightsToCheck {
  readonly name: string;
  readonly notes: readonly EventName[];
  readonly parent: boolean;
}

/** What a missing right stops: `warn` a command, `fail` the daemon's own work. */
const LACKS: Readonly<Record<Right, { readonly level: Finding['level']; readonly found: string }>> = {
  read: { level: 'fail', found: 'these credentials may not read companies' },
  update: { level: 'fail', found: 'these credentials may not write companies: nothing would be updated' },
  notes: { level: 'fail', found: 'these credentials may not create and find notes, which `notes` needs' },
  parents: { level: 'fail', found: 'these credentials may not set the parent of a company, which `parent` needs' },
  create: { level: 'warn', found: 'these credentials may not create companies: `transfer` would be refused' },
  define: {
    level: 'warn',
    found: 'these credentials may not create properties: `check --create-properties` would be refused',
  },
};

async function checkRights(
  config: RightsToCheck,
  connection: Connection,
  lacksProperties: boolean,
  signal: AbortSignal,
): Promise<Findings> {
  const missing = (await connection.missingRights?.(rightsOf(config, connection, lacksProperties), signal)) ?? [];
  return missing.map((each) => lackOf(config.name, each));
}

/** The rights that a configuration needs of what the CRM can do. */
export const rightsOf = (config: RightsToCheck, connection: Connection, lacksProperties: boolean): readonly Right[] => [
  'read',
  'update',
  ...(config.notes.length > 0 && connection.notes !== undefined ? (['notes'] as const) : []),
  ...(config.parent && connection.parents !== undefined ? (['parents'] as const) : []),
  ...(connection.create === undefined ? [] : (['create'] as const)),
  ...(lacksProperties && connection.defineProperties !== undefined ? (['define'] as const) : []),
];

/** What the lack of a right stops. */
export const lackOf = (name: string, { right, reason }: MissingRight): Finding => ({
  ...LACKS[right],
  subject: `${name} rights`,
  advice: reason,
});
