/**
 * How cvrsync proves itself to Datafordeler. An API key goes into the address and nowhere else: Datafordeler takes it
 * there only, so no address may ever reach a log, an error, a metric or a trace. With OAuth a token goes into a header.
 */
import { type HttpClient, type OutboundHttp, openClient } from '../../../../../http/outbound/client.ts';
import { HttpFault } from '../../../../../http/outbound/fault.ts';
import { isJsonObject, type JsonObject } from '../../../../../protocol/text/json.ts';
import { SourceError } from '../../source.ts';

export interface DafCredentials {
  readonly apiKey?: string;
  readonly oauth?: {
    readonly clientId: string;
    readonly clientSecret?: string;
    /** PEM of the client's certificate, and of its key: instead of a secret. */
    readonly certificate?: string;
    readonly certificateKey?: string;
  };
  /** The address that gives tokens. */
  readonly tokenUrl?: string;
}

/** Where Datafordeler gives tokens for a shared secret, and for a certificate. */
const TOKEN_URLS = {
  secret: 'https://auth.datafordeler.dk/realms/distribution/protocol/openid-connect/token',
  certificate: 'https://auth-oces.datafordeler.dk/realms/distribution/protocol/openid-connect/token',
};

export interface DafAccess {
  /** The address and the headers of a request to `url`; asks for a token where it needs one. */
  sign(url: string, signal: AbortSignal): Promise<{ readonly url: string; readonly headers: Record<string, string> }>;
  /** Forgets a token that was refused. */
  forget(): void;
  /** A text without the credentials: an answer may quote what was asked. */
  hide(text: string): string;
  close(): Promise<void>;
}

/** A token is renewed this long before it ends. */
const EARLY_MS = 30_000;
const USUAL_LIFE_S = 300;

export function openAccess(credentials: DafCredentials, deps: { http: OutboundHttp; now: () => number }): DafAccess {
  const { apiKey, oauth } = credentials;
  if (oauth === undefined) {
    return {
      async sign(url) {
        const signed = new URL(url);
        signed.searchParams.set('apiKey', apiKey ?? '');
        return { url: signed.href, headers: {} };
      },
      forget: () => undefined,
      hide: (text) => withoutAny([apiKey], text),
      close: async () => undefined,
    };
  }
  const { certificate, certificateKey } = oauth;
  let client: HttpClient | undefined;
  let token: { readonly value: string; readonly until: number } | undefined;
  const http: OutboundHttp = (request) => {
    if (certificate === undefined || certificateKey === undefined) return deps.http(request);
    client ??= openClient({ identity: { cert: certificate, key: certificateKey }, env: process.env });
    return client.http(request);
  };
  const tokenUrl = credentials.tokenUrl ?? TOKEN_URLS[certificate === undefined ? 'secret' : 'certificate'];
  return {
    async sign(url, signal) {
      if (token === undefined || token.until <= deps.now()) {
        const { value, lifeMs } = await askForToken({ http, url: tokenUrl, oauth }, signal);
        token = { value, until: deps.now() + Math.max(0, lifeMs - EARLY_MS) };
      }
      return { url, headers: { authorization: `Bearer ${token.value}` } };
    },
    forget() {
      token = undefined;
    },
    hide: (text) => withoutAny([oauth.clientSecret, token?.value], text),
    async close() {
      await client?.close();
    },
  };
}

/** In an address a key may be written in several ways. */
const QUOTED_KEY = /apiKey=[^\s&"'<>\\]*/giu;

function withoutAny(secrets: readonly (string | undefined)[], text: string): string {
  const known = secrets.filter((secret) => secret !== undefined && secret !== '');
  const all = known.flatMap((secret = '') => [secret, encodeURIComponent(secret)]);
  return all.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text.replaceAll(QUOTED_KEY, '[key]'));
}

interface TokenRequest {
  readonly http: OutboundHttp;
  readonly url: string;
  readonly oauth: NonNullable<DafCredentials['oauth']>;
}

async function askForToken({ http, url, oauth }: TokenRequest, signal: AbortSignal) {
  const { clientId, clientSecret } = oauth;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  const answer = await http({ method: 'POST', url, headers, body, signal }).catch((error: unknown) => {
    throw error instanceof HttpFault && error.kind !== 'aborted'
      ? new SourceError(`Datafordeler gives no token: ${error.message}`, { cause: error })
      : error;
  });
  const { access_token: value, expires_in: life } = objectIn(answer.body);
  if (answer.status === 200 && typeof value === 'string')
    return { value, lifeMs: (typeof life === 'number' ? life : USUAL_LIFE_S) * 1_000 };
  const isRefused = answer.status === 400 || answer.status === 401 || answer.status === 403;
  throw new SourceError(
    isRefused
      ? `Datafordeler refused the client (${answer.status}): check service.register.oauth`
      : `Datafordeler gives no token, and answered ${answer.status}: check service.register.tokenUrl`,
    { retryAfterMs: 60_000 },
  );
}

function objectIn(text: string): JsonObject {
  try {
    const json: unknown = JSON.parse(text);
    return isJsonObject(json) ? json : {};
  } catch {
    return {};
  }
}
