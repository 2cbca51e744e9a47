/** The parameters of token requests, by flow, and what refusals of the token endpoint mean. */
import { createPrivateKey, createSign, type KeyObject } from 'node:crypto';
import { ProviderError } from '../../provider.ts';
import { faultOf, type SalesforceRefusal } from './errors.ts';
import type { SalesforceSettings } from './salesforce-settings.ts';

/** The parameters of a token request, without the client's id and secret. */
export type Grant = { readonly grant_type: string } & Readonly<Record<string, string>>;

/** Salesforce takes assertions that end within 3 to 5 minutes. */
const ASSERTION_SECONDS = 180;

/** The parameters of one request; each has a newly signed assertion. Throws `auth` for a key that it cannot read. */
export function grantOf(settings: SalesforceSettings, refreshToken: string | undefined, now: number): Grant {
  const { auth, loginUrl } = settings;
  switch (auth.flow) {
    case 'client-credentials':
      return { grant_type: 'client_credentials' };
    case 'refresh-token':
      return { grant_type: 'refresh_token', refresh_token: refreshToken ?? auth.refreshToken };
    case 'jwt-bearer': {
      const exp = Math.floor(now / 1_000) + ASSERTION_SECONDS;
      const claims = { iss: auth.clientId, sub: auth.username, aud: auth.audience ?? loginUrl, exp };
      return {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: sign(claims, readKey(auth.privateKey)),
      };
    }
  }
}

/** The fault that a refusal of the token endpoint means, and what to do. */
export function grantFault(answer: SalesforceRefusal, settings: SalesforceSettings): ProviderError {
  const { status, errors } = answer;
  const [error] = errors;
  const passing = error?.code === 'server_error' || error?.code === 'temporarily_unavailable';
  if (status === 429 || status >= 500 || passing || (error === undefined && status !== 401)) {
    return faultOf(answer);
  }
  return new ProviderError(
    'auth',
    `Salesforce gave no session: ${answer.message}; ${advice(error?.code, settings.auth.flow)}`,
    {
      cause: answer,
    },
  );
}

function advice(code: string | undefined, flow: SalesforceSettings['auth']['flow']): string {
  if (code === 'invalid_client_id' || code === 'invalid_client') return 'check clientId and clientSecret';
  if (code === 'unsupported_grant_type') return `enable the flow ${flow} in the app`;
  switch (flow) {
    case 'client-credentials':
      return 'set loginUrl to the My Domain of the org, and enable the flow with a run-as user in the app';
    case 'jwt-bearer':
      return 'check username and audience, that the app has the certificate of privateKey and the user is approved for it, and the clock of this machine';
    case 'refresh-token':
      return 'the refresh token has ended, was revoked or is used by another process: authorize the app again and put the new one in auth.refreshToken';
  }
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch {
    // The cause would quote the key.
    throw new ProviderError('auth', 'auth.privateKey is not an RSA private key in PEM');
  }
}

function sign(claims: object, key: KeyObject): string {
  const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`;
}
