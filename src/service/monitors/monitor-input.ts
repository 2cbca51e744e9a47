/** The settings of a monitor as a person or a program gives them, and their checks. */
import { isIP } from 'node:net';
import { Value } from 'typebox/value';
import { authSchema } from '../../protocol/auth.ts';
import { EVENT_NAMES, type EventName } from '../../protocol/events.ts';
import { eventNamed, type WireOptions, wireNameOf } from '../../protocol/payload.ts';
import type { Issue } from '../../protocol/shape.ts';
import type { Secrets } from '../keys/secrets.ts';
import { readAddress } from '../mail/address.ts';
import type { Credentials, Monitor } from './monitor.ts';

/** The settings of a monitor; each default in brackets. */
export interface MonitorInput {
  readonly name: string;
  /** The API key that owns it (null: the operators own it). */
  readonly owner?: string | null;
  /** Makes it a third-party job, of which an owner has one for each provider; its target is `items` (null). */
  readonly provider?: string | null;
  /** (`items`) */
  readonly target?: Monitor['target'];
  /** Names of events in any case, also older names; an empty list selects none (null: all). */
  readonly events?: readonly string[] | null;
  /** The address of its webhook (null: it has none). */
  readonly url?: string | null;
  /** (`{ method: 'None' }`) */
  readonly credentials?: Credentials;
  /** Seconds before each attempt (null: the configured ones). */
  readonly schedule?: readonly number[] | null;
  /** The most posts to its webhook in a minute (null: no limit). */
  readonly postsPerMinute?: number | null;
  /** (none) */
  readonly emails?: readonly string[];
  /** (`daily`) */
  readonly mailFrequency?: Monitor['mailFrequency'];
  /** (true) */
  readonly enabled?: boolean;
}

export type MonitorPatch = Partial<Omit<MonitorInput, 'owner' | 'provider' | 'enabled'>>;

/** An error in one setting. */
export interface MonitorIssue extends Issue {
  /** The invalid entry of a list; never a secret. */
  readonly given?: string;
}

/** The settings of a monitor are invalid. The issues are for the person who gave them, and hold no secret. */
export class MonitorError extends Error {
  override readonly name = 'MonitorError';
  readonly issues: readonly MonitorIssue[];

  constructor(issues: readonly MonitorIssue[]) {
    super(`The monitor cannot be like that: ${issues.map(({ path, message }) => `${path}: ${message}`).join('; ')}`);
    this.issues = issues;
  }
}

export interface MonitorOptions extends WireOptions {
  /** Why cvrsync may not post to an IP address; undefined if it may. Without this check, the delivery decides. */
  readonly refusal?: (address: string) => string | undefined;
}

/** What changes of a monitor need in addition to its settings. */
export interface MonitorContext {
  readonly secrets: Secrets;
  readonly now: number;
  readonly options?: MonitorOptions | undefined;
  /** The id of a new monitor (random); a form passes one, so that sending it twice creates one monitor. */
  readonly id?: string;
}

/** Throws {@link MonitorError} if nobody would get the changes. A job needs no webhook: its client reads the list. */
export function requireListener({ provider, url, emails }: Pick<Monitor, 'provider' | 'url' | 'emails'>): void {
  if (provider !== null || url !== null || emails.length > 0) return;
  const message = 'is missing, and so are mail addresses: nobody would be notified';
  throw new MonitorError([{ path: '/url', message }]);
}

const MOST_EMAILS = 100;
const MOST_ATTEMPTS = 50;
const WEEK_S = 604_800;
const MOST_POSTS = 60_000;
const CONTROL = /\p{Cc}/u;
/** Headers that cvrsync sets, or that the HTTP client refuses to send. */
const OURS = /^(?:host|connection|keep-alive|content-.*|transfer-encoding|expect|upgrade|te|trailer|webhook-.*)$/i;

/** All errors in the settings of a monitor. */
export function checkMonitor(input: Partial<MonitorInput>, options: MonitorOptions = {}): readonly MonitorIssue[] {
  const { name, provider, target, events, url, credentials, schedule, postsPerMinute, emails } = input;
  const issues: MonitorIssue[] = [];
  const refuse = (wrong: boolean, path: string, message: string, given?: string): void => {
    if (wrong) issues.push({ path, message, ...(given !== undefined && { given }) });
  };
  if (name !== undefined) refuse(!isPlain(name, 200), '/name', 'should be 1 to 200 characters on one line');
  if (typeof provider === 'string')
    refuse(!/^[A-Za-z0-9._-]{1,64}$/.test(provider), '/provider', 'should be 1 to 64 letters, digits, dots or dashes');
  refuse(typeof provider === 'string' && target === 'all', '/target', 'should be items, as a job lists its companies');
  for (const [at, event] of (events ?? []).entries())
    refuse(
      eventNamed(event, options) === undefined,
      `/events/${at}`,
      `is not an event; the events are ${EVENT_NAMES.map((name) => wireNameOf(name, options)).join(', ')}`,
      event,
    );
  if (typeof url === 'string') issues.push(...checkUrl(url, { refusal: options.refusal, instead: CREDENTIALS }));
  if (credentials !== undefined) issues.push(...checkCredentials(credentials));
  if (Array.isArray(schedule)) issues.push(...checkSchedule(schedule));
  if (typeof postsPerMinute === 'number')
    refuse(
      !(Number.isInteger(postsPerMinute) && postsPerMinute >= 1 && postsPerMinute <= MOST_POSTS),
      '/postsPerMinute',
      `should be a whole number from 1 to ${MOST_POSTS}`,
    );
  refuse((emails?.length ?? 0) > MOST_EMAILS, '/emails', `should be ${MOST_EMAILS} addresses at most`);
  for (const [at, email] of (emails ?? []).entries())
    refuse(
      readAddress(email) === undefined,
      `/emails/${at}`,
      'is not an e-mail address, such as name@example.com',
      email,
    );
  return issues;
}

/** The events of valid names, each once, in the specification's order. */
export const readEventNames = (names: readonly string[], options: WireOptions = {}): readonly EventName[] => {
  const wanted = new Set(names.map((name) => eventNamed(name, options)));
  return EVENT_NAMES.filter((event) => wanted.has(event));
};

interface UrlOptions {
  readonly refusal?: MonitorOptions['refusal'];
  /** What to use in place of a user name and password in the address. */
  readonly instead?: string;
}

const CREDENTIALS = ': give them as credentials of method BasicAuth';

/** All errors in the address of a webhook. */
export function checkUrl(text: string, { refusal, instead = '' }: UrlOptions = {}): readonly Issue[] {
  const path = '/url';
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || text.length > 2_048)
    return [{ path, message: 'should be an address, such as https://example.com/webhook' }];
  if (url.username !== '' || url.password !== '')
    return [{ path, message: `should contain no user name or password${instead}` }];
  // A host name is resolved at each delivery; an IP address can be checked now.
  const host = url.hostname === 'localhost' ? '127.0.0.1' : url.hostname.replace(/^\[|\]$/g, '');
  const refused = isIP(host) === 0 ? undefined : refusal?.(host);
  if (refused === undefined) return [];
  return [
    { path, message: `is ${refused}, and webhooks go only to public ones: service.webhooks.allow permits others` },
  ];
}

function checkCredentials(credentials: Credentials): readonly Issue[] {
  const path = '/credentials';
  if (credentials.method === 'Bearer')
    return /^[!-~]+$/.test(credentials.token) ? [] : [{ path: `${path}/token`, message: 'should be printable ASCII' }];
  const { method } = credentials;
  if (!Value.Check(authSchema, credentials))
    return [{ path, message: `does not hold what the method ${method} needs` }];
  if (credentials.method === 'Header' && OURS.test(credentials.key))
    return [{ path: `${path}/key`, message: 'is a header that every post has already, or that none may have' }];
  return [];
}

function checkSchedule(schedule: readonly number[]): readonly Issue[] {
  const path = '/schedule';
  if (schedule.length === 0 || schedule.length > MOST_ATTEMPTS)
    return [{ path, message: `should be 1 to ${MOST_ATTEMPTS} attempts` }];
  return schedule.flatMap((seconds, at) =>
    Number.isInteger(seconds) && seconds >= 0 && seconds <= WEEK_S
      ? []
      : [{ path: `${path}/${at}`, message: `should be a whole number of seconds from 0 to ${WEEK_S}` }],
  );
}

const isPlain = (text: string, longest: number): boolean =>
  text.trim() !== '' && text.length <= longest && !CONTROL.test(text);
