/** What all pages share: headers, files, forms, and error pages. */
import { Readable } from 'node:stream';
import helmet from '@fastify/helmet';
import files from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from '../../http/server/error.ts';
import type { Server, ServerLog } from '../../http/server/server.ts';
import { MOST_MB, readForms, TooLarge } from '../access/forms.ts';
import { ASSETS_FOLDER } from '../page/assets.ts';
import type { Halves } from '../page/layout.ts';
import { messagePage } from '../page/messages.ts';
import type { Reader } from '../page/reader.ts';
import { readerOfRequest, sendPage } from './routes.ts';

interface ScopeDeps {
  readonly log: ServerLog;
  readonly halves: Halves;
  readonly timeZone?: string | undefined;
}

const CSP = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
  'base-uri': ["'none'"],
};

/** Prepares a scope for pages; the routes next to it keep their JSON errors. */
export async function openPages(scope: Server, deps: ScopeDeps): Promise<void> {
  await scope.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: CSP },
    frameguard: { action: 'deny' },
    // The origin of a form must reach the dashboard.
    referrerPolicy: { policy: 'same-origin' },
    // The TLS proxy decides this for the whole domain.
    strictTransportSecurity: false,
  });
  readForms(scope);
  if (deps.timeZone !== undefined) scope.decorate('timeZone', deps.timeZone);
  await scope.register(files, {
    root: ASSETS_FOLDER,
    prefix: '/assets/',
    immutable: true,
    maxAge: '365d',
    schemaHide: true,
  });
  scope.setErrorHandler((error, request, reply) => sendFailure(deps, error, request, reply));
  scope.addHook('onSend', async (request, _reply, payload) => {
    // The answer has begun, so error handlers do not get this error.
    if (payload instanceof Readable) payload.once('error', (error) => logFailure(deps, error, request));
    return payload;
  });
}

function logFailure({ log }: ScopeDeps, error: unknown, request: FastifyRequest): void {
  // The pattern, not the address: a query may hold private data.
  const route = request.routeOptions.url ?? 'no route';
  log.error({ err: error, method: request.method, route }, 'page failed');
}

function sendFailure(deps: ScopeDeps, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = statusOf(error);
  if (status >= 500) logFailure(deps, error, request);
  const reader = readerOfRequest(request);
  return sendPage(
    { request, reply, halves: deps.halves },
    messagePage(reader, { status, ...wordsOf(reader, status, error) }),
  );
}

function statusOf(error: unknown): number {
  if (error instanceof HttpError) return error.status;
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 ? status : 500;
}

function wordsOf(reader: Reader, status: number, error: unknown): { readonly title: string; readonly help: string } {
  if (error instanceof TooLarge) return { title: reader.text('error.tooLarge'), help: tooLargeHelp(reader, error) };
  if (status >= 500) return { title: reader.text('error.failed'), help: reader.text('error.failedHelp') };
  return { title: reader.text('error.invalid'), help: error instanceof HttpError ? error.message : '' };
}

const tooLargeHelp = (reader: Reader, { bounds: { bytes, fields, hasFile } }: TooLarge): string =>
  hasFile === true
    ? reader.text('error.fileHelp', { most: MOST_MB })
    : reader.text('error.formHelp', { most: Math.floor(bytes / 1_000), fields });
