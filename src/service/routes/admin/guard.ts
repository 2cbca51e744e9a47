/** Who may administer the service. */
import { hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from '../../../http/error.ts';
import type { Server } from '../../../http/server.ts';
import type { Access } from '../access.ts';
import { failure } from '../schemas.ts';

export interface AdminGuardOptions {
  /** `server.adminToken`; without one only this machine is let in. */
  readonly adminToken?: string | undefined;
  /** Lets API keys with the scope `admin` in as well. */
  readonly access?: Pick<Access, 'checkKey'> | undefined;
  /** A proxy stands before us: without a token nobody is let in, as not every one says that it passes a request on. */
  readonly isProxied?: boolean | undefined;
}

/** What a route says of itself. */
export const forOperators = (operationId: string, summary: string, description = summary) => ({
  operationId,
  summary,
  description,
  tags: ['admin'],
  security: [{ adminToken: [] }],
});

/** How administration refuses whoever may not. */
export const ADMIN_FAILURES = {
  401: failure('No token, or a wrong one'),
  403: failure(
    'An API key without the scope admin; or no token is configured, and the request does not come straight from this machine',
  ),
  429: failure('Over the limit of calls a minute of an API key; Retry-After says in how many seconds to come again'),
};

/** The same where there is a body. */
export const BODY_FAILURES = {
  400: failure('A body that is not JSON'),
  413: failure('A body over 1 MiB'),
  415: failure('A body that is not application/json'),
};

/** What a proxy adds, and our own webhooks: the request is then somebody else's, although the socket is ours. */
const FORWARDED = /^(?:x-forwarded-.*|x-real-ip|forwarded|via|webhook-.*)$/;

/**
 * Lets operators in, before a request is looked at: `Authorization: Bearer` with the admin token, or with an API key of the
 * scope `admin`. Where no token is configured also what comes straight from this machine, without a proxy, and was not sent
 * by a web page of another origin.
 */
export function guardAdmin(scope: Server, { adminToken, access, isProxied = false }: AdminGuardOptions): void {
  scope.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const bearer = /^bearer +(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1];
    if (bearer !== undefined) {
      if (adminToken !== undefined && isSame(bearer, adminToken)) return;
      reply.header('www-authenticate', 'Bearer');
      if (access === undefined) throw new HttpError(401, 'The token is not the one that is configured.');
      await access.checkKey(bearer, 'admin');
      return;
    }
    if (adminToken !== undefined) {
      reply.header('www-authenticate', 'Bearer');
      throw new HttpError(401, 'Send the admin token: Authorization: Bearer …');
    }
    if (!isProxied && isFromHere(request)) return;
    throw new HttpError(
      403,
      'Without server.adminToken the administration answers on this machine only, and not at all with server.publicUrl.',
    );
  });
}

/** Straight from a program on this machine: no proxy, and no page that a browser here was made to open. */
function isFromHere({ socket, headers, raw }: FastifyRequest): boolean {
  // No program of today, but what proxies speak that are not told otherwise, and say nothing of whom they speak for.
  if (raw.httpVersion === '1.0') return false;
  if (!isLoopback(socket.remoteAddress ?? '')) return false;
  if (Object.keys(headers).some((name) => FORWARDED.test(name))) return false;
  // A name of somebody else's that leads here would make our answers readable to their page.
  const host = hostOf(`http://${headers.host ?? ''}`);
  if (host !== 'localhost' && !isLoopback(host.replace(/^\[|\]$/g, ''))) return false;
  const { origin } = headers;
  return origin === undefined || origin === `http://${headers.host}` || origin === `https://${headers.host}`;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');

const isLoopback = (address: string): boolean => {
  const plain = address.replace(/^::ffff:/i, '');
  return address === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
};

/** Compared as digests, so that neither content nor length shows in the time it takes. */
const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
