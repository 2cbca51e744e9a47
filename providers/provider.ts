/**
 * The provider contract: what an adapter for one CRM gives the runtime.
 *
 * A provider is data plus a few verbs. It never sleeps, never retries, never logs and opens nothing
 * on import; the runtime paces its calls, retries, decides what to write and remembers what happened.
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
  Right,
  Search,
  WebhookRead,
} from './abilities.ts';
export type { Outcome, Patch, Property, PropertyValue, Read, RecordId, WrittenOutcome } from './record.ts';

/**
 * The version of this contract, semantic: a provider for another major version, or for a newer minor one, is refused at load.
 * The built-in providers state it, and others the version that they were written for: this constant is always the newest.
 */
export const CONTRACT_VERSION = '2.1.0';

/** How a property may be overwritten; `decide` holds the table. */
export type Policy = 'tracked' | 'always' | 'if-blank' | 'never';

/** One row of a preset: where one company field goes, under which policy. */
export interface PresetRow {
  readonly field: FieldName;
  readonly property: string;
  readonly policy: Policy;
  /** True for a property the account need not have: its absence is no fault. */
  readonly optional?: true;
  /** The row is skipped where the account has this other property (`BillingCountryCode` beside `BillingCountry`). */
  readonly unless?: string;
  /** What stands between the members of a list in a text; `, ` where absent. */
  readonly join?: string;
  /** Names the address that this part belongs to, if the record holds several. */
  readonly address?: string;
}

/** A CRM's default mapping; a field may go to several properties. */
export type Preset = readonly PresetRow[];

/**
 * Calls allowed in any window of that length. The runtime leaves 2 % of it for late timers and the network: of a window of
 * a second that is little, so state fewer calls there than the CRM allows. Both are finite numbers above 0: for a CRM without
 * a limit, state one that is never reached, such as 1000 calls a second.
 */
export interface Window {
  readonly calls: number;
  readonly perMs: number;
}

/** What the runtime must know to pace a connection and to fill its batches. */
export interface Limits {
  /** Records in one read and one update at most. */
  readonly batch: { readonly read: number; readonly update: number };
  /** Calls in flight at once, over the whole account. */
  readonly concurrency: number;
  /**
   * The windows by budget. `default` paces every call; a call that names another budget
   * (`HttpRequest.budget`) is paced by that one instead.
   */
  readonly budgets: { readonly default: Window; readonly [budget: string]: Window };
}

/** What an answer's headers say about the account's budget; the runtime slows down on it. */
export interface Observation {
  readonly budget?: string;
  /** Calls left in the current window, where the CRM says so. */
  readonly remaining?: number;
  /** Set to stop all calls of the account for that long (a daily guard, for instance). */
  readonly pauseMs?: number;
  readonly reason?: string;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** The budget that paces this call; `default` where absent, `none` for one the CRM does not count. */
  readonly budget?: string;
  /** The deadline over connect, headers and body. The runtime's default where absent. */
  readonly timeoutMs?: number;
  /**
   * Resolves for a redirect too, where one tells of a record: a CRM may answer for a merged one with 301 and the
   * survivor's address.
   */
  readonly showRedirects?: true;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The one way a provider reaches the network: paced, counted, with a deadline over the whole answer,
 * abortable, never following a redirect (301, 302, 303, 307 and 308 throw, unless they are to be shown).
 * Resolves for every other status; throws {@link ProviderError} `unavailable` where no whole answer came.
 */
export type Http = (request: HttpRequest) => Promise<HttpResponse>;

/**
 * Why a whole connection cannot go on, as opposed to one record:
 * `rate` too many calls, wait `retryAfterMs` (no attempt is counted);
 * `auth` credentials refused, the account is paused and probed once a minute;
 * `unavailable` no answer, 5xx, cut or timed out: back off and try again;
 * `locked` the account cannot be written for a while (`retryAfterMs`);
 * `refused` the CRM understood and denied: a person must act.
 */
export type Fault = 'rate' | 'auth' | 'unavailable' | 'locked' | 'refused';

/** A fault of the connection. The message is shown to people: what happened and what to do, never a secret. */
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

/** Who the credentials are, as `check` shows it. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** Plain lines for a person: limits left, edition, warnings. */
  readonly notes: readonly string[];
  /** ISO 4217: the currency of amounts whose record and property name no other one. */
  readonly currency?: string;
}

/** One page of a scan over all companies; `cursor` is absent on the last one. */
export interface Page {
  readonly records: readonly { readonly id: string; readonly properties: Readonly<Record<string, PropertyValue>> }[];
  readonly cursor?: string;
}

/**
 * An open connection to one CRM account. Every verb may throw {@link ProviderError} (the connection as
 * a whole cannot go on) and the signal's reason (aborted); anything else thrown is a bug of the provider.
 */
export interface Connection {
  /** Who am I, what is left. One or two calls. */
  check(signal: AbortSignal): Promise<Account>;
  /** The company's properties. Read at start and again now and then. */
  properties(signal: AbortSignal): Promise<readonly Property[]>;
  /** The records asked for, in that order; at most `limits.batch.read` distinct ids. An empty list makes no call. */
  read(ids: readonly string[], properties: readonly string[], signal: AbortSignal): Promise<readonly Read[]>;
  /** Writes patches; outcomes come back in their order; at most `limits.batch.update` distinct ids. Never creates a record. */
  update(patches: readonly Patch[], signal: AbortSignal): Promise<readonly Outcome[]>;
  /** All companies, a page at a time, not by search; a cursor may be stored and resumed. */
  scan(properties: readonly string[], cursor: string | undefined, signal: AbortSignal): Promise<Page>;

  // What follows are abilities a CRM may lack: the runtime asks whether a connection has one before it uses it.

  /**
   * What happened to companies since the cursor: deleted, merged, new, restored, or edited in one of these properties.
   * Without a cursor it begins now. May tell of a record twice; may not leave one out, so it overlaps where the CRM is late.
   */
  changes?(properties: readonly string[], cursor: string | undefined, signal: AbortSignal): Promise<Changes>;
  /** The live records whose property equals the value, at most ten. */
  find?(property: string, value: string, signal: AbortSignal): Promise<Search>;
  /** Makes one company. A lost answer is a thrown `unavailable`: the caller must look before it tries again. */
  create?(properties: Readonly<Record<string, PropertyValue>>, signal: AbortSignal): Promise<Created>;
  /** Makes those properties that are not there; in the order given. Idempotent. */
  defineProperties?(definitions: readonly PropertyDefinition[], signal: AbortSignal): Promise<readonly Defined[]>;
  /** The account's rules that may block a write, as far as the credentials can see them. */
  rules?(signal: AbortSignal): Promise<readonly AccountRule[]>;
  /**
   * Which of these rights the credentials lack, as far as the CRM tells without a write: `check` asks before the first
   * one. One or two calls for each right; what cannot be told is not named.
   */
  missingRights?(rights: readonly Right[], signal: AbortSignal): Promise<readonly MissingRight[]>;
  /**
   * Who changed these properties of these records since a time (ms), oldest first, with the value that stood there at that
   * time as the first one, where the CRM keeps it. At most `limits.batch.read` ids.
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

/** A secret kept over restarts: a rotated refresh token, for instance. Values are encrypted by nobody: keep them few. */
export interface SecretStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** What the runtime gives a connection. */
export interface ProviderContext {
  readonly http: Http;
  readonly keep: SecretStore;
  /** The time in ms since 1970. */
  readonly now: () => number;
}

/** An adapter for one CRM. */
export interface Provider<S extends TSchema = TSchema> {
  /** Folder, configuration's `use:` and default {Provider} segment of the specification's paths. */
  readonly name: string;
  /** The version of the contract that it was written for, as text: `2.0.0`. */
  readonly contract: string;
  /** One line for people. */
  readonly about: string;
  /** Validates the configuration and writes its documentation; a property with `secret: true` is never shown. */
  readonly settings: S;
  readonly preset: Preset;
  /** The properties made for this product, those of the preset and those that are only read: `check` offers to make them. */
  readonly definitions?: readonly PropertyDefinition[];
  /** Depends on the account's edition, hence on the settings. */
  limits(settings: Static<S>): Limits;
  /** Reads an answer's headers; pure. */
  observe?(response: HttpResponse, settings: Static<S>): Observation | undefined;
  /**
   * Reads a record's id as people, exports and the CRM spell it: the same record has the same `id`, however it was named,
   * and a canonical id is its own canonical form. Pure. The runtime removes blanks at the edges first, and refuses
   * addresses and blanks within; without this member it takes every other text as it stands.
   */
  canonicalId?(text: string, settings: Static<S>): RecordId;
  /**
   * The id of the company whose page a browser shows at this address; undefined for any other page, or site. Pure. People
   * copy such addresses: with this member they may stand wherever a record's id may.
   */
  idInAddress?(address: URL, settings: Static<S>): string | undefined;
  /**
   * The https address of the record's page in the CRM, for people; undefined if it is not known. `account` is the id that
   * `check` gave. Pure. `idInAddress`, if it is there, reads the id back from it.
   */
  recordAddress?(id: string, account: string, settings: Static<S>): string | undefined;
  /** Verifies and reads what the CRM itself posts to us; pure. `now` in ms. */
  webhook?(request: CrmRequest, settings: Static<S>, now: number): WebhookRead;
  /** Loads the client library and builds a connection; makes no call yet. */
  connect(settings: Static<S>, context: ProviderContext): Promise<Connection>;
}

/** Keeps a provider's settings type through inference. */
export const defineProvider = <S extends TSchema>(provider: Provider<S>): Provider<S> => provider;
