/**
 * The provider contract: what an adapter for one CRM gives the runtime. A provider is data plus a few verbs. It never
 * sleeps, retries or logs, and opens nothing on import. The runtime limits the rate of its calls, retries, decides what
 * to write and stores what happened.
 */
import type { Static, TSchema } from 'typebox';
import type {
  AccountRule,
  Changes,
  Created,
  CrmRequest,
  Defined,
  MissingRight,
  Notes,
  Parents,
  PropertyDefinition,
  PropertyEdit,
  PropertyRemoval,
  Right,
  Search,
  WebhookRead,
} from './abilities.ts';
import type { FieldName } from './fields.ts';
import type { Outcome, Patch, Property, PropertyValue, Read, RecordId } from './record.ts';

export type {
  AccountRule,
  ChangeHint,
  Changes,
  Created,
  CrmRequest,
  Defined,
  MissingRight,
  Note,
  NoteOutcome,
  Notes,
  ParentRead,
  Parents,
  PropertyDefinition,
  PropertyEdit,
  PropertyRemoval,
  Right,
  Search,
  WebhookRead,
} from './abilities.ts';
export type { Outcome, Patch, Property, PropertyValue, Read, RecordId, WrittenOutcome } from './record.ts';

/**
 * The semantic version of this contract, always the newest. cvrsync refuses a provider that was written for another
 * major version or a newer minor one. The built-in providers state this constant; others state the version they were
 * written for.
 */
export const CONTRACT_VERSION = '2.3.0';

/** When cvrsync may overwrite a property; `decide` holds the table. */
export type Policy = 'tracked' | 'always' | 'if-blank' | 'never';

/** Maps one company field to one property, under one policy. */
export interface PresetRow {
  readonly field: FieldName;
  readonly property: string;
  readonly policy: Policy;
  /** The account need not have the property. */
  readonly optional?: true | undefined;
  /** Skips the row if the account has this other property: `BillingCountryCode` replaces `BillingCountry`. */
  readonly unless?: string | undefined;
  /** Joins the members of a list into one text; default `, `. */
  readonly join?: string | undefined;
  /** The address that this part belongs to, if the record holds several. */
  readonly address?: string | undefined;
  /** Of `composed`: the text with its fields in braces. */
  readonly text?: string | undefined;
  /** Writes texts in one case. */
  readonly case?: 'upper' | 'lower' | undefined;
}

/** A row with the keys of the contract alone, in a fixed order: a plugin's preset may have more. */
export const plainRow = (given: PresetRow): PresetRow => {
  const { field, property, policy, unless, optional, join, address, text, case: letters } = given;
  return {
    ...{ field, property, policy },
    ...(unless !== undefined && { unless }),
    ...(optional !== undefined && { optional }),
    ...(join !== undefined && { join }),
    ...(address !== undefined && { address }),
    ...(text !== undefined && { text }),
    ...(letters !== undefined && { case: letters }),
  };
};

/** A CRM's default mapping; a field may go to several properties. */
export type Preset = readonly PresetRow[];

/**
 * The calls allowed in any window of this length. The runtime keeps 2 % in reserve for late timers and the network,
 * which is little in a window of one second: state fewer calls there than the CRM allows. Both numbers are finite and
 * above 0; for a CRM without a limit, state one that is never reached, such as 1000 calls a second.
 */
export interface Window {
  readonly calls: number;
  readonly perMs: number;
}

/** The limits of a connection's calls and batches. */
export interface Limits {
  /** The most records in one read and in one update. */
  readonly batch: { readonly read: number; readonly update: number };
  /** The most calls in flight at once, over the whole account. */
  readonly concurrency: number;
  /**
   * The windows by budget. `default` limits every call; a call that names another budget (`HttpRequest.budget`) counts
   * in that one instead.
   */
  readonly budgets: { readonly default: Window; readonly [budget: string]: Window };
}

/** The account's budget in an answer's headers; the runtime slows down accordingly. */
export interface Observation {
  readonly budget?: string | undefined;
  /** Calls left in the current window. */
  readonly remaining?: number | undefined;
  /** Stops all calls of the account for this long. */
  readonly pauseMs?: number | undefined;
  readonly reason?: string | undefined;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** The budget that this call counts in: `default` if absent, `none` for a call that the CRM does not count. */
  readonly budget?: string | undefined;
  /** The deadline over connect, headers and body; the runtime has a default. */
  readonly timeoutMs?: number | undefined;
  /** Returns a redirect as an answer: a CRM may answer for a merged record with 301 and the survivor's address. */
  readonly showRedirects?: true;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The only way for a provider to reach the network: rate-limited, counted, abortable, with a deadline over the whole
 * answer. It follows no redirect: 301, 302, 303, 307 and 308 throw, unless `showRedirects` is set. It resolves for
 * every other status, and throws {@link ProviderError} `unavailable` without a whole answer.
 */
export type Http = (request: HttpRequest) => Promise<HttpResponse>;

/**
 * Why the whole connection cannot continue, as opposed to one record:
 * `rate`: too many calls, wait `retryAfterMs` (the runtime counts no attempt);
 * `auth`: the CRM refused the credentials, the runtime pauses the account and retries once a minute;
 * `unavailable`: no answer, 5xx, cut or timed out, the runtime retries with back-off;
 * `locked`: the account cannot be written for a while (`retryAfterMs`);
 * `refused`: the CRM understood and denied, a person must act.
 */
export type Fault = 'rate' | 'auth' | 'unavailable' | 'locked' | 'refused';

/** A fault of the connection. People read the message: say what happened and what to do, and never include a secret. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly fault: Fault;
  readonly retryAfterMs: number | undefined;

  constructor(fault: Fault, message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The account of the credentials, as `check` shows it. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** Plain lines for a person: limits left, edition, warnings. */
  readonly notes: readonly string[];
  /** ISO 4217: the currency of amounts if neither record nor property names one. */
  readonly currency?: string | undefined;
}

/** One page of a scan; the last one has no `cursor`. */
export interface Page {
  readonly records: readonly { readonly id: string; readonly properties: Readonly<Record<string, PropertyValue>> }[];
  readonly cursor?: string | undefined;
}

/**
 * An open connection to one CRM account. Every verb may throw {@link ProviderError} (the whole connection cannot continue)
 * and the signal's reason (aborted); any other error is a bug of the provider.
 */
export interface Connection {
  /** Returns the account, and what is left of its limits. One or two calls. */
  check(signal: AbortSignal): Promise<Account>;
  /** Lists the company's properties. The runtime calls it at start and now and then. */
  properties(signal: AbortSignal): Promise<readonly Property[]>;
  /** Reads records, in the order asked; takes at most `limits.batch.read` distinct ids. An empty list makes no call. */
  read(ids: readonly string[], properties: readonly string[], signal: AbortSignal): Promise<readonly Read[]>;
  /** Writes patches, answers in order; takes at most `limits.batch.update` distinct ids. Creates no record. */
  update(patches: readonly Patch[], signal: AbortSignal): Promise<readonly Outcome[]>;
  /** Lists all companies page by page, not by a search that lags; the runtime may store the cursor and resume. */
  scan(properties: readonly string[], cursor: string | undefined, signal: AbortSignal): Promise<Page>;

  // Optional abilities: the runtime checks whether a connection has one before it uses it.

  /**
   * Returns what happened to companies since the cursor: deleted, merged, new, restored, or edited in one of these
   * properties. Without a cursor it begins now. It may repeat a change but never leaves one out, so it overlaps if the
   * CRM is late.
   */
  changes?(properties: readonly string[], cursor: string | undefined, signal: AbortSignal): Promise<Changes>;
  /** Finds the live records whose property equals the value, at most ten. */
  find?(property: string, value: string, signal: AbortSignal): Promise<Search>;
  /** Creates one company. Throw `unavailable` for a lost answer: the caller looks before it tries again. */
  create?(properties: Readonly<Record<string, PropertyValue>>, signal: AbortSignal): Promise<Created>;
  /** Creates the missing properties and answers in order. Idempotent. */
  defineProperties?(definitions: readonly PropertyDefinition[], signal: AbortSignal): Promise<readonly Defined[]>;
  /**
   * Removes properties with all their values, and answers in order. Idempotent. The runtime asks only for properties
   * that this connection created, when a person leaves the CRM.
   */
  removeProperties?(names: readonly string[], signal: AbortSignal): Promise<readonly PropertyRemoval[]>;
  /** Lists the account's rules that may block a write, as far as the credentials can see them. */
  rules?(signal: AbortSignal): Promise<readonly AccountRule[]>;
  /**
   * Lists which of these rights the credentials lack, as far as the CRM says so without a write; `check` calls it
   * before the first one. One or two calls for each right.
   */
  missingRights?(rights: readonly Right[], signal: AbortSignal): Promise<readonly MissingRight[]>;
  /**
   * Lists who changed these properties of these records since a time (ms), oldest first. The first entry is the value
   * at that time, if the CRM keeps it. Takes at most `limits.batch.read` ids.
   */
  edits?(
    ids: readonly string[],
    properties: readonly string[],
    since: number,
    signal: AbortSignal,
  ): Promise<readonly PropertyEdit[]>;
  readonly notes?: Notes;
  readonly parents?: Parents;
}

/** Secrets that outlive the process, such as a rotated refresh token. The store does not encrypt them: keep them few. */
export interface SecretStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** What the runtime gives a connection. */
export interface ProviderContext {
  readonly http: Http;
  readonly keep: SecretStore;
  /** Ms since 1970. */
  readonly now: () => number;
}

export interface Provider<S extends TSchema = TSchema> {
  /** Its folder, the `use:` of the configuration, and the default {Provider} segment of the specification's paths. */
  readonly name: string;
  /** The version of the contract that the provider was written for, as text: `2.0.0`. */
  readonly contract: string;
  /** One line for people. */
  readonly about: string;
  /** Validates and documents the configuration; cvrsync never shows a property with `secret: true`. */
  readonly settings: S;
  readonly preset: Preset;
  /** The properties made for this product, whether the preset fills or only reads them: `check` offers to create them. */
  readonly definitions?: readonly PropertyDefinition[] | undefined;
  /** Depends on the settings, because it depends on the account's edition. */
  limits(settings: Static<S>): Limits;
  /** Reads an answer's headers; pure. */
  observe?(response: HttpResponse, settings: Static<S>): Observation | undefined;
  /**
   * Returns the one form of a record's id that the runtime stores and compares, however people, exports and the CRM
   * spell it; a canonical id is its own canonical form. Pure. The runtime trims the text first, and refuses addresses
   * and inner blanks; without this member it accepts every other text unchanged.
   */
  canonicalId?(text: string, settings: Static<S>): RecordId;
  /**
   * Returns the id of the company whose page has this address, and undefined for any other page or site. Pure. People
   * copy such addresses: with this member cvrsync takes one wherever it takes a record's id.
   */
  idInAddress?(address: URL, settings: Static<S>): string | undefined;
  /**
   * Returns the https address of the record's page in the CRM, for people; undefined if unknown. `account` is the id
   * from `check`. Pure. `idInAddress`, if present, reads the id back.
   */
  recordAddress?(id: string, account: string, settings: Static<S>): string | undefined;
  /** Verifies and reads a webhook of the CRM; pure. `now` in ms. */
  webhook?(request: CrmRequest, settings: Static<S>, now: number): WebhookRead;
  /** Loads the client library and builds a connection; makes no call. */
  connect(settings: Static<S>, context: ProviderContext): Promise<Connection>;
}

/** Keeps the settings type of a provider through inference. */
export const defineProvider = <S extends TSchema>(provider: Provider<S>): Provider<S> => provider;
