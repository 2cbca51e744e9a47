/** Authenticates requests on the admin listener, from any address. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSameSecret } from '../../protocol/auth.ts';
import { HttpError } from './error.ts';
import type { Server } from './server.ts';

export interface AdminGuardOptions {
  /** Undefined: no token is accepted. */
  readonly adminToken: string | undefined;
  /** Accepts other keys; throws an {@link HttpError} for a key without access. */
  readonly checkKey?: ((key: string) => Promise<{ readonly keyId: string }>) | undefined;
  readonly isSignedIn?: ((request: FastifyRequest) => Promise<boolean>) | undefined;
}

const TOKEN_HOLDER = 'the admin token';

/**
 * Requires `Authorization: Bearer` with the admin token in this scope, before a request is parsed. Returns a function
 * that names the sender of an accepted request: the id of a key, or words for the token.
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
