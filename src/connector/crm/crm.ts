/** An open CRM: a provider's connection with its pace, its mapping and what we know of the account's schema. */
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
import type { Store } from '../../store/open.ts';
import { followedRules, followRules } from '../rules/accepted.ts';
import type { DecisionRules } from '../rules/rules.ts';
import { checkAnswers } from './answer-check/answer-check.ts';
import { readObservation } from './answer-check/check-shape.ts';
import { maskerFor } from './answer-check/check-values.ts';
import { pureAnswer } from './answer-check/pure-answer.ts';
import { formOf } from './answer-check/record-id.ts';
import { connectProvider, limitsOf } from './connect.ts';
import { guardAccount, guardHold } from './guard.ts';
import { acquireCall, currentSendContext } from './send-guard.ts';

/** So new a schema, in ms, says of a property that is not there that it is not there. */
export const NEW_SCHEMA_MS = 2_000;

/** A connection as the configuration describes it. */
export interface CrmConfig extends DecisionRules {
  readonly name: string;
  readonly provider: Provider;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Hides the secrets of the settings in a text; what the provider says is stored and shown. */
  readonly mask?: ((text: string) => string) | undefined;
  readonly match: string | undefined;
  /** Field → property by which records without a number are matched, in place of the mapped ones. */
  readonly matchTexts?: Readonly<Partial<Record<FieldName, string>>> | undefined;
  readonly policy: Policy;
  /** Events that leave a note. */
  readonly notes: readonly EventName[];
  readonly autoLink: boolean;
  /** Whether a company is suggested for records without a number. */
  readonly autoMatch?: 'suggest' | undefined;
  readonly parent: boolean;
  /** Records in one write at most; as many as the provider states where absent. */
  readonly batch?: number | undefined;
  readonly pollMinutes: number;
  readonly reconcileHours: number;
}

/** What a connection's configuration says to the parts that work on its records. */
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

/** The part of the configuration that a connection is opened by. */
export type CrmSettings = Pick<CrmConfig, CommonKey>;

/** A connection that calls can be made to. Its rules are the accepted ones, those of its configuration if there are none. */
export interface Crm extends CrmSettings {
  readonly connection: Connection;
  readonly rateLimiter: RateLimiter;
  readonly limits: Limits;
  /**
   * The account's properties by name, read `maxAgeMs` ago at most; a quarter of an hour where absent. Throws if a guard
   * says no (guard.ts).
   */
  schema(signal: AbortSignal, maxAgeMs?: number): Promise<ReadonlyMap<string, Property>>;
  /** Reads the schema anew at its next use: the CRM refused something it should have taken. */
  forgetSchema(): void;
}

/** A connection of a daemon, which may read its configuration again. */
export interface OpenedCrm extends Crm {
  /** Makes calls with other secrets from now on. The account is checked before the next one. */
  reconnect(secrets: Pick<CrmSettings, 'settings' | 'mask'>): Promise<void>;
}

/** The mapped fields of each CRM, by its name. */
export const mappedFields = (crms: readonly Crm[]): ReadonlyMap<string, ReadonlySet<FieldName>> =>
  new Map(crms.map((crm) => [crm.name, new Set(crm.mapping.map((row) => row.field))]));

export interface CrmDeps {
  readonly store: Store;
  readonly http: Client;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** Calls are made though the account is paused: somebody wants to know whether the cause is gone. */
  readonly probes?: true;
}

const SCHEMA_MS = 15 * 60_000;
/** A record that was read longer ago than this may have been edited since: better to begin again after the pause. */
const PATIENCE_MS = 2_000;

/** Builds the connection; makes no call yet. */
export async function openCrm(deps: CrmDeps, config: CrmSettings): Promise<OpenedCrm> {
  const { store, now } = deps;
  const { name } = config;
  await followRules(store, name);
  const rules = (): DecisionRules => followedRules(store, name) ?? config;
  const stated = limitsOf(config);
  const update = Math.min(stated.batch.update, config.batch ?? stated.batch.update);
  const limits: Limits = { ...stated, batch: { ...stated.batch, update } };
  const options = { budgets: limits.budgets, paired: 'default', patienceMs: PATIENCE_MS };
  const rateLimiter = createRateLimiter({ store, key: name, now, ...options });
  const http = rateLimitedHttp(deps, config, rateLimiter, limits);
  const connect = async (by: CrmSettings): Promise<Connection> => {
    const connected = await connectProvider(by, { http, keep: keepFor(store, name, now), now });
    return checkAnswers(connected, { name, form: formOf(by), schema, mask: by.mask });
  };
  let current = { ...config, connection: await connect(config) };
  let known: { readonly at: number; readonly properties: Promise<ReadonlyMap<string, Property>> } | undefined;
  let isOurs = false;
  const readSchema = async (signal: AbortSignal): Promise<ReadonlyMap<string, Property>> => {
    if (!isOurs) await guardAccount(store, { name, connection: current.connection }, now(), signal);
    isOurs = true;
    const schema = new Map((await current.connection.properties(signal)).map((each) => [each.name, each]));
    guardHold(name, rules().hold, schema);
    return schema;
  };
  function schema(signal: AbortSignal, maxAgeMs = SCHEMA_MS): Promise<ReadonlyMap<string, Property>> {
    if (known === undefined || now() - known.at > maxAgeMs) {
      const reading = { at: now(), properties: readSchema(signal) };
      known = reading;
      // A late failure of an older read must not cost a newer schema.
      reading.properties.catch(() => {
        if (known === reading) known = undefined;
      });
    }
    return known.properties;
  }
  return {
    ...config,
    get mapping() {
      return rules().mapping;
    },
    get values() {
      return rules().values;
    },
    get hold() {
      return rules().hold;
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
    get connection() {
      return current.connection;
    },
    get settings() {
      return current.settings;
    },
    get mask() {
      return current.mask;
    },
    rateLimiter,
    limits,
    schema,
    forgetSchema() {
      known = undefined;
    },
    async reconnect(secrets) {
      const by = { ...config, ...secrets };
      current = { ...by, connection: await connect(by) };
      known = undefined;
      isOurs = false;
    },
  };
}

/** Every call of a provider passes here: paced, counted, and its headers heard. */
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
      await heed(response);
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

  /** Waits for a call of the budget, then for the guard of a write. */
  async function admit(request: HttpRequest, budget: string): Promise<void> {
    const isProbe = probes === true && (await rateLimiter.blockedUntil()) !== undefined;
    if (!isProbe) await acquireCall(rateLimiter, request, budget).catch(throwPaused);
    await currentSendContext()?.guard(request);
  }

  function throwPaused(error: unknown): never {
    if (!(error instanceof PausedError)) throw error;
    throw new ProviderError('rate', error.message, { retryAfterMs: Math.max(0, error.until - now()), cause: error });
  }

  async function heed(response: HttpResponse): Promise<void> {
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
 * The part of its window that a budget is left to recover, by how many of its calls remain. Our own pace comes down to one
 * if some calls are late; if none remains, others spend from the budget, too.
 */
const RECOVERY = [1 / 10, 1 / 50];

/** Headers are a hint: an answer that was received must not be lost because a plugin stumbles over them. */
function observed({ provider, settings, mask }: CrmSettings, response: HttpResponse): Observation | undefined {
  try {
    return readObservation(pureAnswer(provider.observe?.(response, settings)), maskerFor(mask));
  } catch {
    return undefined;
  }
}

const keepFor = (store: Store, name: string, now: () => number): SecretStore => ({
  get: (key) => readValue(store.db, `${name}/${key}`),
  set: (key, value) => store.write((tx) => writeValue(tx, `${name}/${key}`, value, now())),
});
