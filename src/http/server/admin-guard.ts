/** Who may use the admin listener: whoever proves it. Where a request comes from decides nothing. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSameSecret } from '../../protocol/auth.ts';
import { HttpError } from './error.ts';
import type { Server } from './server.ts';

export interface AdminGuardOptions {
  /** Undefined where there is none: then no token is right. */
  readonly adminToken: string | undefined;
  /** Lets other keys in as well: throws an {@link HttpError} for a key that may not. */
  readonly checkKey?: ((key: string) => Promise<unknown>) | undefined;
}

/** Asks every request in this scope for `Authorization: Bearer` with the admin token, before anything of it is looked at. */
export function guardAdmin(scope: Server, { adminToken, checkKey }: AdminGuardOptions): void {
  scope.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const bearer = /^bearer +(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1];
    if (bearer !== undefined && adminToken !== undefined && isSameSecret(bearer, adminToken)) return;
    reply.header('www-authenticate', 'Bearer');
    if (bearer === undefined)
      throw new HttpError(401, 'Send the admin token: Authorization: Bearer … (cvrsync token prints it).');
    if (checkKey === undefined) throw new HttpError(401, 'The token is not the admin token of this daemon.');
    await checkKey(bearer);
    reply.removeHeader('www-authenticate');
  });
}
