/** The token endpoint of an emulated org: three flows, rotation, revocation. */
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import type { EmulatorAnswer } from '../../emulator.ts';
import { to18 } from '../client/ids.ts';

export type Flow = 'client-credentials' | 'jwt-bearer' | 'refresh-token';

export interface Tokens {
  /** Answers `POST /services/oauth2/token`. */
  request(form: URLSearchParams, loginUrl: string): EmulatorAnswer;
  /** Whether an access token is valid at an instance, named by its path prefix. */
  accepts(accessToken: string, prefix: string): boolean;
  /** Ends all sessions; the next one is given as ever. */
  expire(): void;
  /** Refuses every session and every token request. */
  revoke(on: boolean): void;
  /** Gives sessions that are refused all the same. */
  refuse(on: boolean): void;
  /** Moves the org to another instance; old sessions end. */
  move(): void;
  /** The org that tokens are for. */
  organizationId: string;
  /** The user the tokens act as. */
  readonly userId: string;
  /** `auth` of the provider's settings. */
  readonly auth: Readonly<Record<string, string>>;
  /** Texts no error may show. */
  readonly secrets: readonly string[];
}

const CLIENT_ID = '3MVG9.emulator.client';
const CLIENT_SECRET = 'emulator-client-secret';
const USERNAME = 'connector@company.example';
const USER_ID = '005Qy000000Us1AIAS';
const MAX_ASSERTION_SECONDS = 300;

/** Opens the endpoint for one flow; `lifetimeMs` ends a session by the clock. */
export function openTokens(
  options: {
    readonly flow: Flow;
    readonly rotate: boolean;
    readonly lifetimeMs: number;
    readonly organizationId: string;
  },
  now: () => number,
): Tokens {
  const sessions = new Map<string, { readonly prefix: string; readonly until: number }>();
  // Making a key takes a tenth of a second: only where it is needed.
  const pair = options.flow === 'jwt-bearer' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : undefined;
  const privateKey = pair?.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() ?? '';
  const spent = new Set<string>();
  let refreshToken: string | undefined = '5Aep861.emulator.refresh.0';
  const first = refreshToken;
  let [issued, moves] = [0, 0];
  let [revoked, refusing] = [false, false];
  const prefix = () => (moves === 0 ? '' : `/moved-${moves}`);

  const grant = (loginUrl: string, extra: Readonly<Record<string, string>> = {}): EmulatorAnswer => {
    issued += 1;
    const accessToken = `00D!emulator.session.${issued}`;
    sessions.set(accessToken, { prefix: prefix(), until: now() + options.lifetimeMs });
    const id = `${loginUrl}/id/${tokens.organizationId}/${USER_ID}`;
    const body = {
      access_token: accessToken,
      instance_url: loginUrl + prefix(),
      id,
      token_type: 'Bearer',
      issued_at: String(now()),
      ...extra,
    };
    return { status: 200, body };
  };

  const flows: Readonly<Record<string, (form: URLSearchParams, loginUrl: string) => EmulatorAnswer>> = {
    client_credentials(form, loginUrl) {
      if (options.flow !== 'client-credentials') return refuse('invalid_grant', 'no client credentials user enabled');
      return form.get('client_secret') === CLIENT_SECRET
        ? grant(loginUrl)
        : refuse('invalid_client', 'invalid client credentials');
    },
    'urn:ietf:params:oauth:grant-type:jwt-bearer': (form, loginUrl) => {
      if (pair === undefined) return refuse('invalid_grant', "user hasn't approved this consumer");
      const [head = '', body = '', signature = ''] = (form.get('assertion') ?? '').split('.');
      const key = createPublicKey(pair.publicKey.export({ type: 'spki', format: 'pem' }));
      if (!verify('RSA-SHA256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) {
        return refuse('invalid_grant', 'invalid assertion');
      }
      const { iss, sub, aud, exp }: Record<string, unknown> = JSON.parse(Buffer.from(body, 'base64url').toString());
      if (iss !== CLIENT_ID) return refuse('invalid_client_id', 'client identifier invalid');
      if (sub !== USERNAME) return refuse('invalid_grant', "user hasn't approved this consumer");
      if (aud !== loginUrl) return refuse('invalid_grant', 'audience is invalid');
      const seconds = Number(exp) - now() / 1_000;
      return seconds > 0 && seconds <= MAX_ASSERTION_SECONDS
        ? grant(loginUrl)
        : refuse('invalid_grant', 'expired authorization code');
    },
    refresh_token(form, loginUrl) {
      const token = form.get('refresh_token') ?? '';
      if (spent.has(token)) {
        // A spent token in use means that it was stolen: everything that came from it ends.
        refreshToken = undefined;
        sessions.clear();
      }
      if (options.flow !== 'refresh-token' || token !== refreshToken)
        return refuse('invalid_grant', 'expired access/refresh token');
      if (!options.rotate) return grant(loginUrl);
      spent.add(token);
      refreshToken = `5Aep861.emulator.refresh.${spent.size}`;
      return grant(loginUrl, { refresh_token: refreshToken });
    },
  };

  const tokens: Tokens = {
    request(form, loginUrl) {
      if (revoked) return refuse('invalid_grant', 'expired access/refresh token');
      if (form.get('client_id') !== CLIENT_ID) return refuse('invalid_client_id', 'client identifier invalid');
      const flow = flows[form.get('grant_type') ?? ''];
      return flow === undefined ? refuse('unsupported_grant_type', 'grant type not supported') : flow(form, loginUrl);
    },
    accepts(accessToken, at) {
      const session = sessions.get(accessToken);
      return !revoked && !refusing && session !== undefined && session.prefix === at && session.until > now();
    },
    expire: () => sessions.clear(),
    revoke: (on) => {
      revoked = on;
    },
    refuse: (on) => {
      refusing = on;
    },
    move: () => {
      moves += 1;
      sessions.clear();
    },
    organizationId: options.organizationId,
    userId: to18(USER_ID),
    auth: AUTHS[options.flow]({ privateKey, refreshToken: first }),
    secrets: [CLIENT_SECRET, '00D!emulator.session', '5Aep861.emulator.refresh', ...privateKey.split('\n').slice(1, 2)],
  };
  return tokens;
}

const AUTHS: Readonly<
  Record<Flow, (made: { privateKey: string; refreshToken: string }) => Readonly<Record<string, string>>>
> = {
  'client-credentials': () => ({ flow: 'client-credentials', clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }),
  'jwt-bearer': ({ privateKey }) => ({ flow: 'jwt-bearer', clientId: CLIENT_ID, username: USERNAME, privateKey }),
  'refresh-token': ({ refreshToken }) => ({
    flow: 'refresh-token',
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    refreshToken,
  }),
};

const refuse = (error: string, error_description: string): EmulatorAnswer => ({
  status: 400,
  body: { error, error_description },
});
