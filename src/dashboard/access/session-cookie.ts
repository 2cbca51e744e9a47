/** The cookies of the dashboard: the session's id, or without a session a secret that forms prove. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { digestOf, randomSecret } from '../../runtime/operators/operators.ts';
import { LONGEST_MS } from '../../runtime/operators/sessions.ts';

const SESSION = 'cvrsync_session';
const FORM = 'cvrsync_form';
const SIGN_ON = 'cvrsync_sign_on';
const SIGN_ON_SECONDS = 600;
const LANGUAGE = 'cvrsync_language';
const YEAR_SECONDS = 31_536_000;
const ID = /^[A-Za-z0-9_-]{43}$/;

/** Whether TLS protects the connection to the browser. A false header only makes the cookie stricter. */
const isSecure = ({ protocol, headers }: FastifyRequest): boolean =>
  protocol === 'https' || /^https\b/i.test(String(headers['x-forwarded-proto'] ?? ''));

/** Browsers accept this prefix only over TLS. It keeps other hosts of the domain from setting the cookie. */
const nameOf = (name: string, request: FastifyRequest): string => (isSecure(request) ? `__Host-${name}` : name);

const readCookie = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.cookies[nameOf(name, request)];
  return value !== undefined && ID.test(value) ? value : undefined;
};

const setCookie = (request: FastifyRequest, reply: FastifyReply, name: string, value: string): void => {
  const secure = isSecure(request);
  const maxAge = Math.floor(LONGEST_MS / 1_000);
  reply.setCookie(nameOf(name, request), value, { path: '/', httpOnly: true, sameSite: 'strict', secure, maxAge });
};

/** The secret with which a browser began a single sign-on. */
export const signOnSecretOf = (request: FastifyRequest): string | undefined => readCookie(request, SIGN_ON);

/**
 * The secret of a browser that begins a single sign-on. `lax`: the browser must send it when it returns from the
 * issuer.
 */
export function ownSignOnSecret(request: FastifyRequest, reply: FastifyReply): string {
  const secret = signOnSecretOf(request) ?? randomSecret();
  const secure = isSecure(request);
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge: SIGN_ON_SECONDS } as const;
  reply.setCookie(nameOf(SIGN_ON, request), secret, options);
  return secret;
}

export const sessionIdOf = (request: FastifyRequest): string | undefined => readCookie(request, SESSION);

export const keepSession = (request: FastifyRequest, reply: FastifyReply, id: string): void =>
  setCookie(request, reply, SESSION, id);

export const forgetSession = (request: FastifyRequest, reply: FastifyReply): void => {
  reply.clearCookie(nameOf(SESSION, request), { path: '/', secure: isSecure(request) });
};

/** The language that somebody chose in this browser. */
export const chosenLanguage = (request: FastifyRequest): string | undefined =>
  /^[a-z]{2}$/u.exec(request.cookies?.[nameOf(LANGUAGE, request)] ?? '')?.[0];

export const keepLanguage = (request: FastifyRequest, reply: FastifyReply, language: string): void => {
  const options = { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure(request) } as const;
  reply.setCookie(nameOf(LANGUAGE, request), language, { ...options, maxAge: YEAR_SECONDS });
};

/** The token in each form of a page: derived from the session's id, and not reversible. */
export const formTokenOf = (secret: string): string => digestOf(`form ${secret}`);

/** The form token of somebody without a session. Sets a secret of its own in a browser that has none. */
export function ownFormToken(request: FastifyRequest, reply: FastifyReply): string {
  const known = readCookie(request, FORM);
  if (known !== undefined) return formTokenOf(known);
  const made = randomSecret();
  setCookie(request, reply, FORM, made);
  return formTokenOf(made);
}
