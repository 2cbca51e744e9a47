/**
 * Authenticates requests to Datafordeler. Datafordeler takes an API key only in the URL, so no URL may reach a log, an
 * error, a metric or a trace. An OAuth token goes into a header.
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
    /** PEM of the client certificate and its key, which replace a secret. */
    readonly certificate?: string;
    readonly certificateKey?: string;
  };
  /** The token endpoint. */
  readonly tokenUrl?: string;
}

/** The token endpoints of Datafordeler for a shared secret and for a certificate. */
const TOKEN_URLS = {
  secret: 'https://auth.datafordeler.dk/realms/distribution/protocol/openid-connect/token',
  certificate: 'https://auth-oces.datafordeler.dk/realms/distribution/protocol/openid-connect/token',
};

export interface DafAccess {
  /** Returns the URL and headers of a request to `url`; fetches a token if needed. */
  sign(url: string, signal: AbortSignal): Promise<{ readonly url: string; readonly headers: Record<string, string> }>;
  /** Discards a refused token. */
  forget(): void;
  /** Masks the credentials in a text: an answer may quote the request. */
  hide(text: string): string;
  close(): Promise<void>;
}

/** Renews a token this long before it ends. */
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

/** A key has several spellings in a URL. */
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
