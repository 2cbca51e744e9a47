/** The issuer of single sign-on, by OpenID Connect. The library checks PKCE, state, nonce, signature and issuer. */
import type { Configuration, CustomFetch } from 'openid-client';
import type { OutboundHttp } from '../../http/outbound/client.ts';
import { isLoopback } from '../../http/server/networks.ts';
import type { Claims } from './claims.ts';

export interface IssuerSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
  /** How browsers reach the dashboard. */
  readonly publicUrl: string;
}

/** Where a browser signs in, and the secrets that prove its return. */
interface SignOnRequest {
  readonly url: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The issuer as the pages use it. Each call throws if the answer is late or invalid. */
export interface Issuer {
  begin(): Promise<SignOnRequest>;
  /** The claims of a person who returned with the query of a callback. */
  finish(query: string, proof: Pick<SignOnRequest, 'state' | 'nonce' | 'verifier'>): Promise<Claims>;
  /** Where a person signs out of the issuer; undefined if it has no such address, or was not asked yet. */
  endSessionUrl(): string | undefined;
}

/** How long the sign-in page waits for the issuer. */
const ANSWER_MS = 3_000;
/** How long the issuer's metadata counts. */
const FRESH_MS = 60 * 60_000;
const MAX_BYTES = 1024 * 1024;

/** The path to which the issuer returns browsers. */
export const CALLBACK_PATH = '/login/oidc/callback';

/** The address to register at the issuer. */
export const callbackUrl = (publicUrl: string): string => `${publicUrl}${CALLBACK_PATH}`;

/** Reads an issuer's metadata. Throws if it does not answer, or names another issuer. */
export async function discoverIssuer(
  { issuer, clientId, clientSecret }: IssuerSettings,
  http: OutboundHttp,
  now: () => number,
): Promise<Configuration> {
  // Loaded only if it is configured.
  const { allowInsecureRequests, clockSkew, customFetch, discovery, enableNonRepudiationChecks } = await import(
    'openid-client'
  );
  const url = new URL(issuer);
  // Plain HTTP only to this machine.
  const execute = isLoopback(url.hostname.replace(/^\[|\]$/g, ''))
    ? [enableNonRepudiationChecks, allowInsecureRequests]
    : [enableNonRepudiationChecks];
  const skew = { [clockSkew]: Math.round((now() - Date.now()) / 1_000) };
  const client = { client_secret: clientSecret, ...skew };
  return await discovery(url, clientId, client, undefined, { execute, [customFetch]: fetchBy(http) });
}

/** The outbound client with its proxies and limits, in the form that the library calls. */
const fetchBy =
  (http: OutboundHttp): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const answer = await http({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      ...(body !== undefined && body !== null && { body: String(body) }),
      signal: signal ?? AbortSignal.timeout(ANSWER_MS),
      timeoutMs: ANSWER_MS,
      maxBytes: MAX_BYTES,
    });
    const { 'content-encoding': _decoded, ...rest } = answer.headers;
    return new Response(answer.body === '' ? null : answer.body, { status: answer.status, headers: rest });
  };

/** Opens an issuer, without a call before the first sign-in. */
export function openIssuer(settings: IssuerSettings, http: OutboundHttp, now: () => number): Issuer {
  let known: { readonly configuration: Configuration; readonly at: number } | undefined;
  async function read(): Promise<Configuration> {
    if (known === undefined || now() - known.at > FRESH_MS)
      known = { configuration: await discoverIssuer(settings, http, now), at: now() };
    return known.configuration;
  }
  return {
    async begin() {
      const configuration = await read();
      const oidc = await import('openid-client');
      const proof = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: callbackUrl(settings.publicUrl),
        scope: settings.scope,
        code_challenge: await oidc.calculatePKCECodeChallenge(proof.verifier),
        code_challenge_method: 'S256',
        state: proof.state,
        nonce: proof.nonce,
      });
      return { ...proof, url: url.href };
    },
    async finish(query, { state, nonce, verifier }) {
      const configuration = await read();
      const oidc = await import('openid-client');
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await oidc.authorizationCodeGrant(
        configuration,
        new URL(`${callbackUrl(settings.publicUrl)}?${query}`),
        checks,
      );
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the issuer sent no ID token');
      // Many issuers give groups and mail addresses only there.
      if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
      return { ...(await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
    },
    endSessionUrl: () => endSession(known?.configuration, settings),
  };
}

/** Builds the address without the library, which may not be loaded yet. */
function endSession(configuration: Configuration | undefined, { clientId, publicUrl }: IssuerSettings) {
  const place = configuration?.serverMetadata().end_session_endpoint;
  if (place === undefined) return undefined;
  const url = new URL(place);
  url.searchParams.set('client_id', clientId);
  url.searchParams.set('post_logout_redirect_uri', `${publicUrl}/login`);
  return url.href;
}
