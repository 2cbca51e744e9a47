/** An open CRM: a provider's connection with its rate limiter, its mapping and the account's schema. */
import { fieldsOf } from '../../../providers/composed.ts';
import type { FieldName } from '../../../providers/fields.ts';
import {
  type Connection,
  type Http,
  type HttpRequest,
  type HttpResponse,
  type Limits,
  type Observation,
  type Policy,
  type Property,
  type Provider,
  ProviderError,
  type SecretStore,
} from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { OutboundHttp as Client } from '../../http/outbound/client.ts';
import { HttpFault } from '../../http/outbound/fault.ts';
import type { EventName } from '../../protocol/events.ts';
import { createRateLimiter, PausedError, type RateLimiter } from '../../runtime/limits/rate-limiter.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Store, Tx } from '../../store/store.ts';
import { readLeft } from '../links/left.ts';
import { followedRules, followRules } from '../rules/accepted.ts';
import type { DecisionRules } from '../rules/rules.ts';
import { checkAnswers } from './answer-check/answer-check.ts';
import { readObservation } from './answer-check/answers.ts';
import { maskerFor } from './answer-check/values.ts';
import { connectProvider, limitsOf } from './connect.ts';
import { guardAccount, guardHold, readAccount } from './guard.ts';
import { formOf, pureAnswer } from './record-id.ts';
import { acquireCall, currentSendContext } from './send-guard.ts';

/** A schema younger than this proves that a missing property does not exist. */
export const NEW_SCHEMA_MS = 2_000;

export interface CrmConfig extends DecisionRules {
  readonly name: string;
  readonly provider: Provider;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Hides the secrets of the settings in a text, since texts of the provider are stored and shown. */
  readonly mask?: ((text: string) => string) | undefined;
  /** Field → property that matches records without a number, instead of the mapped one. */
  readonly matchTexts?: Readonly<Partial<Record<FieldName, string>>> | undefined;
  readonly policy: Policy;
  readonly notes: readonly EventName[];
  readonly autoLink: boolean;
  readonly autoMatch?: 'suggest' | undefined;
  readonly parent: boolean;
  /** Most records in one write; undefined: as many as the provider states. */
  readonly batch?: number | undefined;
  readonly pollMinutes: number;
  readonly reconcileHours: number;
}

type CommonKey =
  | 'name'
  | 'provider'
  | 'settings'
  | 'mask'
  | 'match'
  | 'matchTexts'
  | 'mapping'
  | 'values'
  | 'hold'
  | 'only'
  | 'notes'
  | 'autoLink'
  | 'autoMatch'
  | 'persons'
  | 'currency'
  | 'dashboard'
  | 'parent'
  | 'batch'
  | 'pollMinutes'
  | 'reconcileHours';

export type CrmSettings = Pick<CrmConfig, CommonKey>;

/**
 * A connection ready for calls. Its rules are the accepted ones, or those of its configuration if none are accepted.
 */
export interface Crm extends CrmSettings {
  readonly connection: Connection;
  readonly rateLimiter: RateLimiter;
  readonly limits: Limits;
  /**
   * The account's properties by name, at most `maxAgeMs` old (15 minutes by default). Throws if a guard refuses
   * (guard.ts).
   */
  schema(signal: AbortSignal, maxAgeMs?: number): Promise<ReadonlyMap<string, Property>>;
  /** The next use reads the schema again: the CRM refused a value that the schema allows. */
  forgetSchema(): void;
}

/** Finds an open connection by its name. Throws if no connection has it. */
export const openedCrm =
  (crms: readonly Crm[]) =>
  async (name: string): Promise<Crm> => {
    const crm = crms.find((each) => each.name === name);
    if (crm === undefined) throw new Error(`no connection ${name} is open`);
    return crm;
  };

export const mappedFields = (crms: readonly Crm[]): ReadonlyMap<string, ReadonlySet<FieldName>> =>
  new Map(crms.map((crm) => [crm.name, new Set(fieldsOf(crm.mapping))]));

export interface CrmDeps {
  readonly store: Store;
  readonly http: Client;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** Makes calls although the account is paused, to find out whether the cause is gone. */
  readonly probes?: true;
  /** Tries credentials that may not stay: their account is compared with the known one, and not remembered; what it refuses pauses nothing. */
  readonly isTrial?: true;
}

const SCHEMA_MS = 15 * 60_000;
/** Wait at most this long for a paused account; then read the record again, since somebody may have edited it. */
const PATIENCE_MS = 2_000;

/** Makes no call yet. */
export async function openCrm(deps: CrmDeps, config: CrmSettings): Promise<Crm> {
  const { store, now } = deps;
  const { name } = config;
  await followRules(store, name);
  const rules = (): DecisionRules => followedRules(store, name) ?? config;
  const stated = limitsOf(config);
  const update = Math.min(stated.batch.update, config.batch ?? stated.batch.update);
  const limits: Limits = { ...stated, batch: { ...stated.batch, update } };
  const options = { budgets: limits.budgets, paired: 'default', patienceMs: PATIENCE_MS };
  const shared = createRateLimiter({ store, key: name, now, ...options });
  // The account of a trial may be another one than that at work.
  const rateLimiter = deps.isTrial === true ? { ...shared, block: async () => {} } : shared;
  const http = rateLimitedHttp(deps, config, rateLimiter, limits);
  const connect = async (by: CrmSettings): Promise<Connection> => {
    const connected = await connectProvider(by, { http, keep: secretStoreOf(store, name, now), now });
    return checkAnswers(connected, { name, form: formOf(by), schema, mask: by.mask });
  };
  let isAccountChecked = false;
  const { schema: cached, forget } = cacheSchema(now, async (signal) => {
    if (!isAccountChecked) await guardAccount(deps, { name, connection }, signal);
    isAccountChecked = true;
    return new Map((await connection.properties(signal)).map((each) => [each.name, each]));
  });
  // At each use: what a leaving read without the hold property must not serve after the return.
  const schema: Crm['schema'] = async (signal, maxAgeMs) => {
    const known = await cached(signal, maxAgeMs);
    try {
      guardHold(name, rules(), known);
    } catch (error) {
      // A leaving may have removed it, and writes nothing but what it restores.
      if ((await readLeft(store.db, name)) !== undefined) return known;
      forget();
      throw error;
    }
    return known;
  };
  const connection = await connect(config);
  return {
    ...config,
    get match() {
      return rules().match;
    },
    get mapping() {
      return rules().mapping;
    },
    get values() {
      return rules().values;
    },
    get hold() {
      return rules().hold;
    },
    get only() {
      return rules().only;
    },
    get persons() {
      return rules().persons;
    },
    get currency() {
      return rules().currency;
    },
    get dashboard() {
      return rules().dashboard;
    },
    connection,
    rateLimiter,
    limits,
    schema,
    forgetSchema: forget,
  };
}

/** Reads an account's properties when the known ones are too old. */
function cacheSchema(
  now: () => number,
  read: (signal: AbortSignal) => Promise<ReadonlyMap<string, Property>>,
): { readonly schema: Crm['schema']; readonly forget: () => void } {
  let known: { readonly at: number; readonly properties: ReturnType<typeof read> } | undefined;
  return {
    schema(signal, maxAgeMs = SCHEMA_MS) {
      if (known === undefined || now() - known.at > maxAgeMs) {
        const reading = { at: now(), properties: read(signal) };
        known = reading;
        // A late failure of an older read must not cost a newer schema.
        reading.properties.catch(() => {
          if (known === reading) known = undefined;
        });
      }
      return known.properties;
    },
    forget() {
      known = undefined;
    },
  };
}

/** Sends every call of a provider: waits for the rate limiter, counts the call, and reads the headers of the answer. */
function rateLimitedHttp(
  { http, metrics, now, probes }: CrmDeps,
  config: CrmSettings,
  rateLimiter: RateLimiter,
  limits: Limits,
): Http {
  const { name: provider } = config;
  return async (request) => {
    await (request.budget === 'none' ? undefined : admit(request, request.budget ?? 'default'));
    const started = performance.now();
    try {
      const response = await http(request);
      metrics.crmCalls.inc({ provider, code: String(response.status) });
      await slowDown(response);
      return response;
    } catch (error) {
      if (!(error instanceof HttpFault)) throw error;
      metrics.crmCalls.inc({ provider, code: error.kind });
      if (error.kind === 'aborted') throw request.signal.reason;
      throw new ProviderError('unavailable', error.message, { cause: error });
    } finally {
      metrics.crmRequestSeconds.observe({ provider }, (performance.now() - started) / 1000);
    }
  };

  async function admit(request: HttpRequest, budget: string): Promise<void> {
    const isProbe = probes === true && (await rateLimiter.blockedUntil()) !== undefined;
    if (!isProbe) await acquireCall(rateLimiter, request, budget).catch(throwPaused);
    await currentSendContext()?.guard(request);
  }

  function throwPaused(error: unknown): never {
    if (!(error instanceof PausedError)) throw error;
    throw new ProviderError('rate', error.message, { retryAfterMs: Math.max(0, error.until - now()), cause: error });
  }

  async function slowDown(response: HttpResponse): Promise<void> {
    const seen = observed(config, response);
    if (seen === undefined) return;
    if (seen.pauseMs !== undefined)
      await rateLimiter.block(now() + seen.pauseMs, seen.reason ?? 'the CRM asked for a pause');
    const budget = seen.budget ?? 'default';
    const window = limits.budgets[budget];
    const part = seen.remaining === undefined ? undefined : RECOVERY[Math.max(0, Math.floor(seen.remaining))];
    if (part !== undefined && window !== undefined) await rateLimiter.slow(budget, now() + window.perMs * part);
  }
}

/**
 * Part of its window in which a budget recovers, by the number of calls that remain. At 1, our own rate falls if some
 * calls come late; at 0, others use the budget too.
 */
const RECOVERY = [1 / 10, 1 / 50];

/** Headers are a hint: a plugin that fails on them must not lose the answer. */
function observed({ provider, settings, mask }: CrmSettings, response: HttpResponse): Observation | undefined {
  try {
    return readObservation(pureAnswer(provider.observe?.(response, settings)), maskerFor(mask));
  } catch {
    return undefined;
  }
}

/** Forgets what a provider kept for a connection that was tried and never used. */
export async function forgetTrial(tx: Tx, name: string): Promise<void> {
  if ((await readAccount(tx, name)) !== undefined) return;
  // Up to the character after the slash.
  await tx.deleteFrom('kv').where('key', '>=', `${name}/`).where('key', '<', `${name}0`).execute();
}

const secretStoreOf = (store: Store, name: string, now: () => number): SecretStore => ({
  get: (key) => readValue(store.db, `${name}/${key}`),
  set: (key, value) => store.write((tx) => writeValue(tx, `${name}/${key}`, value, now())),
});
