/** The token endpoint of an emulated org: three flows, rotation, revocation. */
import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { toLongId } from '../../../salesforce/client/ids.ts';
import type { EmulatorAnswer } from '../../emulator/emulator.ts';

export type Flow = 'client-credentials' | 'jwt-bearer' | 'refresh-token';

export interface Tokens {
  request(form: URLSearchParams, loginUrl: string): EmulatorAnswer;
  /** Whether an access token is valid at an instance, named by its path prefix. */
  accepts(accessToken: string, prefix: string): boolean;
  /** Ends all sessions; the org issues the next one as usual. */
  expire(): void;
  /** Refuses every session and every token request. */
  revoke(on: boolean): void;
  /** Issues sessions, and refuses them. */
  refuse(on: boolean): void;
  /** Moves the org to another instance; old sessions end. */
  move(): void;
  /** Issues tokens for another org from now on. */
  answerFor(organizationId: string): void;
  readonly userId: string;
  readonly auth: Readonly<Record<string, string>>;
  /** Texts that no error may show. */
  readonly secrets: readonly string[];
}

const CLIENT_ID = '3MVG9.emulator.client';
const CLIENT_SECRET = 'emulator-client-secret';
const USERNAME = 'connector@company.example';
const USER_ID = '005Qy000000Us1AIAS';
const MAX_ASSERTION_SECONDS = 300;

const FIRST_REFRESH_TOKEN = '5Aep861.emulator.refresh.0';

/** The sessions of an org, at its current instance. */
interface Sessions extends Pick<Tokens, 'accepts' | 'expire' | 'move' | 'answerFor'> {
  /** Answers with a new session, and with the additions of a flow. */
  grant(loginUrl: string, extra?: Readonly<Record<string, string>>): EmulatorAnswer;
}

function openSessions(firstOrganizationId: string, lifetimeMs: number, now: () => number): Sessions {
  const live = new Map<string, { readonly prefix: string; readonly until: number }>();
  let [issued, moves] = [0, 0];
  const prefix = () => (moves === 0 ? '' : `/moved-${moves}`);
  let organizationId = firstOrganizationId;
  return {
    grant(loginUrl, extra = {}) {
      issued += 1;
      const accessToken = `00D!emulator.session.${issued}`;
      live.set(accessToken, { prefix: prefix(), until: now() + lifetimeMs });
      const body = {
        access_token: accessToken,
        instance_url: loginUrl + prefix(),
        id: `${loginUrl}/id/${organizationId}/${USER_ID}`,
        token_type: 'Bearer',
        issued_at: String(now()),
        ...extra,
      };
      return { status: 200, body };
    },
    accepts(accessToken, at) {
      const session = live.get(accessToken);
      return session !== undefined && session.prefix === at && session.until > now();
    },
    expire: () => live.clear(),
    move() {
      moves += 1;
      live.clear();
    },
    answerFor(id) {
      organizationId = id;
    },
  };
}

type Grant = (form: URLSearchParams, loginUrl: string) => EmulatorAnswer;

const clientCredentials =
  ({ grant }: Sessions): Grant =>
  (form, loginUrl) =>
    form.get('client_secret') === CLIENT_SECRET
      ? grant(loginUrl)
      : refuse('invalid_client', 'invalid client credentials');

const jwtBearer =
  (publicKey: KeyObject, { grant }: Sessions, now: () => number): Grant =>
  (form, loginUrl) => {
    const [head = '', body = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    if (!verify('RSA-SHA256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'))) {
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
  };

function refreshing(rotate: boolean, { grant, expire }: Sessions): Grant {
  const spent = new Set<string>();
  let valid: string | undefined = FIRST_REFRESH_TOKEN;
  return (form, loginUrl) => {
    const token = form.get('refresh_token') ?? '';
    if (spent.has(token)) {
      // Use of a spent token means theft: everything that came from it ends.
      valid = undefined;
      expire();
    }
    if (token !== valid) return refuse('invalid_grant', 'expired access/refresh token');
    if (!rotate) return grant(loginUrl);
    spent.add(token);
    valid = `5Aep861.emulator.refresh.${spent.size}`;
    return grant(loginUrl, { refresh_token: valid });
  };
}

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
  const sessions = openSessions(options.organizationId, options.lifetimeMs, now);
  // Creating a key takes a tenth of a second: only if necessary.
  const pair = options.flow === 'jwt-bearer' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : undefined;
  const privateKey = pair?.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() ?? '';
  const isOn = (flow: Flow, answer: Grant, description: string): Grant =>
    options.flow === flow ? answer : () => refuse('invalid_grant', description);
  const grants: Readonly<Record<string, Grant>> = {
    client_credentials: isOn('client-credentials', clientCredentials(sessions), 'no client credentials user enabled'),
    'urn:ietf:params:oauth:grant-type:jwt-bearer':
      pair === undefined
        ? () => refuse('invalid_grant', "user hasn't approved this consumer")
        : jwtBearer(pair.publicKey, sessions, now),
    refresh_token: isOn('refresh-token', refreshing(options.rotate, sessions), 'expired access/refresh token'),
  };
  let [revoked, refusing] = [false, false];
  return {
    ...sessions,
    accepts: (accessToken, prefix) => !revoked && !refusing && sessions.accepts(accessToken, prefix),
    request(form, loginUrl) {
      if (revoked) return refuse('invalid_grant', 'expired access/refresh token');
      if (form.get('client_id') !== CLIENT_ID) return refuse('invalid_client_id', 'client identifier invalid');
      const grant = grants[form.get('grant_type') ?? ''];
      return grant === undefined ? refuse('unsupported_grant_type', 'grant type not supported') : grant(form, loginUrl);
    },
    revoke: (on) => {
      revoked = on;
    },
    refuse: (on) => {
      refusing = on;
    },
    userId: toLongId(USER_ID),
    auth: AUTHS[options.flow](privateKey),
    secrets: [CLIENT_SECRET, '00D!emulator.session', '5Aep861.emulator.refresh', ...privateKey.split('\n').slice(1, 2)],
  };
}

const AUTHS: Readonly<Record<Flow, (privateKey: string) => Readonly<Record<string, string>>>> = {
  'client-credentials': () => ({ flow: 'client-credentials', clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }),
  'jwt-bearer': (privateKey) => ({ flow: 'jwt-bearer', clientId: CLIENT_ID, username: USERNAME, privateKey }),
  'refresh-token': () => ({
    flow: 'refresh-token',
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    refreshToken: FIRST_REFRESH_TOKEN,
  }),
};

const refuse = (error: string, error_description: string): EmulatorAnswer => ({
  status: 400,
  body: { error, error_description },
});
