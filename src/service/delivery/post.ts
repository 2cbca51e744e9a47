import { hash, type KeyObject } from 'node:crypto';
import { type HttpClient, type OutboundHttp, openClient } from '../../http/outbound/client.ts';
import { HttpFault, type HttpFaultKind } from '../../http/outbound/fault.ts';
import type { Guard } from '../../http/outbound/guard.ts';
import { lowerCased, readUrl, redirectText } from '../../http/outbound/headers.ts';
import { retryAfterMs } from '../../http/outbound/retry-after.ts';
import { type Credentials, credentialHeaders, signatureHeaders, signingKey } from '../../protocol/auth.ts';
import type { Security } from '../monitors/monitor.ts';
import { maskedAddress } from '../monitors/webhook-address.ts';
import { type AttemptOutcome, outcomeOf } from './schedule.ts';

const ANSWER_BYTES = 16 * 1024;
const CONNECT_MS = 5_000;
const TOTAL_MS = 15_000;

/** The client for webhooks: it returns every answer's status and the beginning of its text. */
export const openWebhookClient = (guard: Guard): HttpClient =>
  openClient({ guard, connectMs: CONNECT_MS, deadlineMs: TOTAL_MS, excerptBytes: ANSWER_BYTES });

/** The `webhook-id`: equal for every attempt, different for every monitor. */
export const webhookId = (change: string, monitor: string): string =>
  `msg_${hash('sha256', `${change} ${monitor}`, 'base64url')}`;

export interface Webhook {
  readonly url: string;
  /** The headers with the credentials, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly masked: readonly string[];
  readonly keys: readonly { readonly key: KeyObject; readonly expiresAt: number | null }[];
}

export const webhookAt = (url: string, { credentials, secrets }: Security): Webhook => ({
  url,
  headers: lowerCased(credentialHeaders(credentials)),
  masked: [...maskedIn(credentials), ...maskedInAddress(url)],
  keys: secrets.map(({ secret, expiresAt }) => ({ key: signingKey(secret), expiresAt })),
});

export interface DeliveryMessage {
  readonly id: string;
  readonly body: string | Uint8Array;
  readonly attempt: number;
  /** Cannot replace the headers of cvrsync. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Posted {
  readonly at: number;
  readonly took: number;
  /** Null without an answer; then `fault` is set. */
  readonly status: number | null;
  readonly fault: HttpFaultKind | null;
  readonly error: string | null;
  readonly answer: string;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly outcome: AttemptOutcome;
  readonly retryAfterMs: number | undefined;
}

export interface PostOptions {
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Posts a message, signed with every valid key. Undefined if the signal stopped it. */
export async function post(
  http: OutboundHttp,
  webhook: Webhook,
  message: DeliveryMessage,
  { now, signal }: PostOptions,
): Promise<Posted | undefined> {
  const at = now();
  const began = performance.now();
  const { id, body } = message;
  const live = webhook.keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > at);
  const keys = live.map(({ key }) => key);
  const headers = {
    ...(message.headers && lowerCased(message.headers)),
    ...webhook.headers,
    'content-type': 'application/json',
    ...signatureHeaders(keys, { id, timestampMs: at, body }),
    'webhook-attempt': String(message.attempt),
  };
  const took = () => Math.round(performance.now() - began);
  try {
    const answer = await http({ method: 'POST', url: webhook.url, headers, body, signal });
    const { status } = answer;
    const outcome = outcomeOf(status, answer.headers);
    const redirect = withoutSecrets(redirectText(readUrl(webhook.url), status, answer.headers), webhook.masked);
    const error = outcome.kind === 'done' ? null : `answered ${status}${redirect && `, a redirect${redirect}`}`;
    const retry = retryAfterMs(answer.headers['retry-after'], at);
    const shown = withoutSecrets(answer.body, webhook.masked);
    const told = Object.entries(answer.headers).map(([name, value]) => [
      name,
      maskedHeader(name, value, webhook.masked),
    ]);
    const answered = { answer: shown, headers: Object.fromEntries(told) };
    return { at, took: took(), status, fault: null, error, ...answered, outcome, retryAfterMs: retry };
  } catch (error) {
    if (!(error instanceof HttpFault)) throw error;
    if (error.kind === 'aborted') return undefined;
    const outcome: AttemptOutcome = {
      kind: 'failed',
      abort: false,
      disable: false,
      overloaded: error.kind === 'timeout',
    };
    const none = { status: null, answer: '', headers: null, retryAfterMs: undefined };
    return { at, took: took(), fault: error.kind, error: withoutAddress(error.message, webhook.url), outcome, ...none };
  }
}

const MASK = '***';

/** Headers of an answer that hold the receiver's secrets. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'set-cookie',
  'authorization',
  'proxy-authenticate',
  'www-authenticate',
]);

const maskedHeader = (name: string, value: string, masked: readonly string[]): string =>
  SECRET_HEADERS.has(name) ? MASK : withoutSecrets(value, masked);

/** The headers that {@link post} sends with an attempt, without signatures and credentials. */
export const sentHeaders = (
  { id, attempt }: Pick<DeliveryMessage, 'id' | 'attempt'>,
  at: number,
  { credentials, secrets }: Security,
): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.keys(credentialHeaders(credentials)).map((name) => [name.toLowerCase(), MASK])),
  'content-type': 'application/json',
  ...signatureHeaders([], { id, timestampMs: at, body: '' }),
  ...(secrets.length > 0 && { 'webhook-signature': MASK }),
  'webhook-attempt': String(attempt),
});

/** Masking a shorter secret would mask ordinary words. */
const LEAST_SECRET = 4;
const LEAST_IN_ADDRESS = 12;

function maskedIn(credentials: Credentials): readonly string[] {
  const sent = Object.values(credentialHeaders(credentials)).map((value) => value.replace(/^(?:Basic|Bearer) /, ''));
  const secrets = credentials.method === 'BasicAuth' ? [...sent, credentials.value] : sent;
  return secrets
    .filter((secret) => secret.length >= LEAST_SECRET)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
}

function maskedInAddress(url: string): readonly string[] {
  const { pathname, searchParams } = readUrl(url);
  return [pathname, ...searchParams.values()].filter((part) => part.length >= LEAST_IN_ADDRESS);
}

/** The message of a fault contains the address. */
function withoutAddress(text: string, url: string): string {
  const { origin, pathname } = readUrl(url);
  return pathname === '/' ? text : text.replaceAll(`${origin}${pathname}`, maskedAddress(url));
}

/** Masks secrets: some webhooks echo the request, and the store must hold no secret in plain text. */
const withoutSecrets = (answer: string, masked: readonly string[]): string =>
  masked.reduce((text, secret) => text.replaceAll(secret, MASK), answer);
