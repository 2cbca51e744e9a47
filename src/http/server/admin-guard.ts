/** Who may use the admin listener: whoever proves it. Where a request comes from decides nothing. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSameSecret } from '../../protocol/auth.ts';
import { HttpError } from './error.ts';
import type { Server } from './server.ts';

export interface AdminGuardOptions {
  /** Undefined where there is none: then no token is right. */
  readonly adminToken: string | undefined;
  /** Lets other keys in as well: throws an {@link HttpError} for a key that may not. */
  readonly checkKey?: ((key: string) => Promise<{ readonly keyId: string }>) | undefined;
  /** Lets operators in as well, by the session of their browser. */
  readonly isSignedIn?: ((request: FastifyRequest) => Promise<boolean>) | undefined;
}

/** What the audit calls whoever has the admin token. */
const TOKEN_HOLDER = 'the admin token';

/**
 * Asks every request in this scope for `Authorization: Bearer` with the admin token, before anything of it is looked at.
 * Returns who sent a request that was let in: the id of a key, or words for the token; undefined for others.
 */
export function guardAdmin(
  scope: Server,
  { adminToken, checkKey, isSignedIn }: AdminGuardOptions,
): (request: FastifyRequest) => string | undefined {
  const callers = new WeakMap<FastifyRequest, string>();
  scope.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const bearer = /^bearer +(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1];
    if (bearer !== undefined && adminToken !== undefined && isSameSecret(bearer, adminToken))
      return void callers.set(request, TOKEN_HOLDER);
    if (bearer === undefined && (await isSignedIn?.(request)) === true) return;
    reply.header('www-authenticate', 'Bearer');
    if (bearer === undefined)
      throw new HttpError(401, 'Send the admin token: Authorization: Bearer … (cvrsync token prints it).');
    if (checkKey === undefined) throw new HttpError(401, 'The token is not the admin token of this daemon.');
    callers.set(request, (await checkKey(bearer)).keyId);
    reply.removeHeader('www-authenticate');
  });
  return (request) => callers.get(request);
}
