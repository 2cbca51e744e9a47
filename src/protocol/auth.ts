/**
 * Webhook authentication for receivers and senders. `Signature` is Standard Webhooks:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import Type, { type Static } from 'typebox';

const none = Type.Object({ method: Type.Literal('None') }, { additionalProperties: false });

const header = Type.Object(
  {
    method: Type.Literal('Header'),
    key: Type.String({
      pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
      description: 'header name',
      examples: ['X-Webhook-Key'],
    }),
    value: Type.String({
      pattern: '^[!-~]([ -~]*[!-~])?$',
      secret: true,
      description: 'header value, printable ASCII',
    }),
  },
  { additionalProperties: false },
);

const basic = Type.Object(
  {
    method: Type.Literal('BasicAuth'),
    key: Type.String({ pattern: '^[^:]+$', description: 'user name, without a colon', examples: ['cvrsync'] }),
    value: Type.String({ minLength: 1, secret: true, description: 'password' }),
  },
  { additionalProperties: false },
);

const signature = Type.Object(
  {
    method: Type.Literal('Signature'),
    secret: Type.String({
      pattern: '^(whsec_)?[A-Za-z0-9+/]{32,88}={0,2}$',
      secret: true,
      description: 'whsec_ and the key, 24 to 64 bytes in base64',
    }),
  },
  { additionalProperties: false },
);

const bearer = Type.Object(
  {
    method: Type.Literal('Bearer'),
    token: Type.String({
      pattern: '^[!-~]+$',
      secret: true,
      description: 'token of an Authorization header, without blanks',
    }),
  },
  { additionalProperties: false },
);

/** How a webhook proves its sender, in the configuration. A property with `secret: true` is never shown. */
export const authSchema = Type.Union([none, header, basic, signature]);
export type Auth = Static<typeof authSchema>;

/** What a webhook requires of a sender in addition to the signature. */
const credentialsSchema = Type.Union([none, header, basic, bearer]);
export type Credentials = Static<typeof credentialsSchema>;

/** Headers as Node gives them: names in any case, a repeated one as a list or joined by a comma. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

type Refused = { readonly ok: false; readonly reason: string };
/** `signed`: the sender proved the `webhook-id` and the body together. */
export type AuthResult = { readonly ok: true; readonly signed?: true } | Refused;

interface SignatureParts {
  readonly ok: true;
  readonly id: string;
  readonly seconds: string;
  readonly given: string;
}

const TOLERANCE_MS = 5 * 60_000;

const OK: AuthResult = { ok: true };
const SIGNED: AuthResult = { ok: true, signed: true };
const NO_BODY = new Uint8Array();
const refused = (reason: string): Refused => ({ ok: false, reason });

/** Compares digests, so that the time reveals neither content nor length. */
export const isSameSecret = (a: string | Buffer, b: string | Buffer): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));

/** The one value of a header; undefined if it is absent or repeated with different values. */
const headerValue = (headers: Headers, name: string): string | undefined => {
  const wanted = name.toLowerCase();
  const values = Object.keys(headers)
    .filter((key) => key.toLowerCase() === wanted)
    .flatMap((key) => headers[key] ?? []);
  return new Set(values).size === 1 ? values[0] : undefined;
};

const basicValue = (user: string, password: string): string => Buffer.from(`${user}:${password}`).toString('base64');

/** Parses a secret. Reuse the key: parsing takes longer than signing. */
export const signingKey = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));

const signatureOf = (key: KeyObject, id: string, seconds: string, body: string | Uint8Array): string =>
  createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64');

const verifyHeader = (auth: Static<typeof header>, headers: Headers): AuthResult => {
  const value = headerValue(headers, auth.key);
  if (value === undefined) return refused(`the header ${auth.key} is missing, or repeated`);
  return isSameSecret(value, auth.value) ? OK : refused(`the header ${auth.key} does not have the configured value`);
};

const verifyBasic = (auth: Static<typeof basic>, headers: Headers): AuthResult => {
  const [, encoded] = /^basic +(\S+)$/i.exec(headerValue(headers, 'authorization')?.trim() ?? '') ?? [];
  if (encoded === undefined) return refused('there is no Authorization header of scheme Basic');
  const given = Buffer.from(encoded, 'base64');
  return isSameSecret(given, `${auth.key}:${auth.value}`)
    ? OK
    : refused('the user name or password is not the configured one');
};

const readSignature = (headers: Headers, nowMs: number): SignatureParts | Refused => {
  const id = headerValue(headers, 'webhook-id');
  const seconds = headerValue(headers, 'webhook-timestamp');
  const given = headerValue(headers, 'webhook-signature');
  if (!id || !seconds || !given)
    return refused('webhook-id, webhook-timestamp or webhook-signature is missing, or repeated');
  if (!/^\d{1,12}$/.test(seconds)) return refused('webhook-timestamp is not a number of seconds');
  const offMs = Number(seconds) * 1000 - nowMs;
  if (Math.abs(offMs) <= TOLERANCE_MS) return { ok: true, id, seconds, given };
  return refused(
    `webhook-timestamp is ${Math.round(Math.abs(offMs) / 1000)} s ${offMs < 0 ? 'old' : 'ahead'}, 300 s are allowed: check the clocks`,
  );
};

const verifySignature = (
  auth: Static<typeof signature>,
  headers: Headers,
  body: Uint8Array,
  nowMs: number,
): AuthResult => {
  const read = readSignature(headers, nowMs);
  if (!read.ok) return read;
  const { id, seconds, given } = read;
  const expected = signatureOf(signingKey(auth.secret), id, seconds, body);
  const versions = given.split(' ').filter((part) => part.startsWith('v1,'));
  if (versions.some((part) => isSameSecret(part.slice(3), expected))) return SIGNED;
  return refused('webhook-signature does not match the body and the secret');
};

const verifyOne = (auth: Auth, headers: Headers, body: Uint8Array, nowMs: number): AuthResult => {
  switch (auth.method) {
    case 'None':
      return OK;
    case 'Header':
      return verifyHeader(auth, headers);
    case 'BasicAuth':
      return verifyBasic(auth, headers);
    case 'Signature':
      return verifySignature(auth, headers, body, nowMs);
  }
};

/**
 * Authenticates a webhook by any of the active secrets; without any configured, it fails. Takes the raw bytes: verify
 * before you parse. The reason is the first secret's and reveals no secret.
 */
export const verifyAuth = (auths: readonly Auth[], headers: Headers, body: Uint8Array, nowMs: number): AuthResult => {
  const results = auths.map((auth) => verifyOne(auth, headers, body, nowMs));
  const proofs = results.filter((result) => result.ok);
  return proofs.find((proof) => proof.signed) ?? proofs[0] ?? results[0] ?? refused('no authentication is configured');
};

/**
 * Authenticates by the headers alone, before the body is there: refuses what no body could prove. A signature must
 * still pass {@link verifyAuth}.
 */
export const verifyHeaders = (auths: readonly Auth[], headers: Headers, nowMs: number): AuthResult => {
  const results = auths.map((auth) =>
    auth.method === 'Signature' ? readSignature(headers, nowMs) : verifyOne(auth, headers, NO_BODY, nowMs),
  );
  return results.find(({ ok }) => ok) ?? results[0] ?? refused('no authentication is configured');
};

/** The id is the same for every retry; each attempt has its own time. */
export interface SignedRequest {
  readonly id: string;
  readonly timestampMs: number;
  readonly body: string | Uint8Array;
}

/**
 * The headers of Standard Webhooks, signed with every key, because a receiver may know only one during a rotation.
 * Without keys there is no signature.
 */
export const signatureHeaders = (
  keys: readonly KeyObject[],
  { id, timestampMs, body }: SignedRequest,
): Record<string, string> => {
  const seconds = String(Math.floor(timestampMs / 1000));
  const signed = keys.map((key) => `v1,${signatureOf(key, id, seconds, body)}`);
  const message = { 'webhook-id': id, 'webhook-timestamp': seconds };
  return signed.length === 0 ? message : { ...message, 'webhook-signature': signed.join(' ') };
};

export const credentialHeaders = (credentials: Credentials): Record<string, string> => {
  switch (credentials.method) {
    case 'None':
      return {};
    case 'Header':
      return { [credentials.key]: credentials.value };
    case 'BasicAuth':
      return { authorization: `Basic ${basicValue(credentials.key, credentials.value)}` };
    case 'Bearer':
      return { authorization: `Bearer ${credentials.token}` };
  }
};

/** The headers that authenticate a request; names in lower case, except a configured one. */
export const signRequest = (auth: Auth, signed: SignedRequest): Record<string, string> =>
  auth.method === 'Signature' ? signatureHeaders([signingKey(auth.secret)], signed) : credentialHeaders(auth);
