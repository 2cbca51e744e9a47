/** The HTTP server: limits against strangers, one error body, TypeBox schemas. It defines no routes. */
import { createServer as createHttpServer } from 'node:http';
import type { BlockList, Socket } from 'node:net';
import { build } from 'fast-json-stringify';
import {
  type FastifyError,
  type FastifyReply,
  type FastifyRequest,
  type FastifySerializerCompiler,
  fastify,
} from 'fastify';
import type { TSchema } from 'typebox';
import { limitBodies } from './bodies-in-flight.ts';
import { type ConnectionLimit, limitConnections } from './connections.ts';
import { errorBodyOf, HttpError, sendError } from './error.ts';
import { createFailureDelays } from './failure-delays.ts';
import type { Server } from './listener.ts';
import { holds, networksOf } from './networks.ts';
import { compileSchema, InvalidRequest, type TypeBoxTypes } from './validate.ts';

export type { Server } from './listener.ts';

export interface ServerLog {
  error(detail: object, message: string): void;
  warn(detail: object, message: string): void;
}

export interface StrangerCounts {
  refused(what: 'connection' | 'body'): void;
  /** A request failed authentication; `route` is its pattern. */
  unproven(route: string): void;
}

export interface ServerOptions {
  readonly log?: ServerLog;
  readonly counts?: StrangerCounts;
  /** The most bytes of a body; 1 MiB by default. */
  readonly bodyLimit?: number;
  /** The most bytes of all bodies together; 64 MiB by default. */
  readonly bodiesLimit?: number;
  readonly connectionLimit?: number;
  /** How long a whole request may take to arrive; 10,000 by default. */
  readonly requestTimeout?: number;
  readonly clientConnectionLimit?: number;
  /** A listening server without routes; this one answers its requests after {@link answerOn}. */
  readonly on?: Server;
  /** Proxies, as addresses and networks, whose X-Forwarded-* headers count; none by default. */
  readonly trustProxy?: readonly string[];
}

const BODY_LIMIT = 1024 * 1024;
const BODIES_LIMIT = 64 * 1024 * 1024;
const CONNECTION_LIMIT = 1_000;
/** Enough for an unlisted proxy; four such clients fill the server. */
const CLIENT_CONNECTION_LIMIT = 250;
const HEADER_LIMIT = 16 * 1024;
const REQUEST_TIMEOUT = 10_000;
const KEEP_ALIVE = 65_000;
/** Without traffic: ends a client that does not read its answer. Longer than any handler works. */
const SOCKET_TIMEOUT = 60_000;

const CLOSE_GRACE_MS = 2_000;

/** The state that successive servers on one listener share. */
interface Listening {
  isClosing: boolean;
  readonly limit: ConnectionLimit;
}

const listenings = new WeakMap<Server, Listening>();

const answering = new WeakMap<Server, Server['routing']>();

/** Makes a server answer the requests of its listening server, in place of the previous one. */
export async function answerOn(listening: Server, app: Server): Promise<void> {
  await app.ready();
  listening.server.removeAllListeners('request');
  listening.server.on('request', app.routing);
  answering.set(listening, app.routing);
}

/** Strangers may connect all day, so there is one warning a minute. */
const WARN_EVERY_MS = 60_000;

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '';

/** Replaces Fastify's texts, which name the framework instead of a solution. */
const textOf = (error: FastifyError, limit: number): string => {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return `The body is larger than ${limit} bytes.`;
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return 'The content type is not supported: send application/json.';
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return 'The body is not as long as its Content-Length says.';
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return 'The body is not JSON.';
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return 'The path is not valid.';
    default:
      return 'The request is not valid.';
  }
};

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: number, reason: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', `The headers are larger than ${HEADER_LIMIT} bytes.`],
};

/** Connections that were answered before their body arrived. */
const answered = new WeakSet<Socket>();

const refuseConnection = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable || answered.has(socket)) {
    socket.destroy();
    return;
  }
  const [status, reason, message] = CLIENT_ERRORS[error.code ?? ''] ?? [400, 'Bad Request', 'The request is not HTTP.'];
  const body = JSON.stringify(errorBodyOf(status, message));
  const head = `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
};

/**
 * Makes a server with its limits and its error handler; it does not listen yet. While it closes, requests on open
 * connections still reach their routes, which answer 503 if they must not accept work; after two seconds it cuts them.
 * An unexpected error gets 500 with a general text; only the log has its details.
 */
export function createServer(options: ServerOptions = {}): Server {
  const bodyLimit = options.bodyLimit ?? BODY_LIMIT;
  const requestTimeout = options.requestTimeout ?? REQUEST_TIMEOUT;
  const trusted = networksOf(options.trustProxy ?? []);

  const onError = (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (error instanceof HttpError) return sendError(reply, error.status, error.message, error.details);
    if (error instanceof InvalidRequest)
      return sendError(reply, 400, 'The request is not valid.', { errors: error.problems });
    const status = error.statusCode ?? 500;
    // Closing now would lose the answer: read and discard the rest of the body.
    if (status === 413) reply.removeHeader('connection');
    if (status < 500) return sendError(reply, status, textOf(error, request.routeOptions.bodyLimit));
    // The pattern, not the address: a query may hold a key.
    const route = request.routeOptions.url ?? 'no route';
    options.log?.error({ err: error, method: request.method, route }, 'request failed');
    return sendError(reply, 500, 'Something failed on our side; the log says what.');
  };

  const app: Server = fastify({
    logger: false,
    bodyLimit,
    requestTimeout,
    connectionTimeout: SOCKET_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE,
    http: {
      maxHeaderSize: HEADER_LIMIT,
      headersTimeout: requestTimeout,
      requestTimeout,
      // How often Node looks for late requests; every 30 s by default.
      connectionsCheckingInterval: Math.min(1_000, requestTimeout),
    },
    routerOptions: { maxParamLength: 500 },
    requestIdHeader: false,
    return503OnClosing: false,
    // It never listens.
    ...(options.on !== undefined && { serverFactory: () => createHttpServer() }),
    trustProxy: (address: string | undefined) => holds(trusted, address),
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => void onError(error, request, reply),
  }).withTypeProvider<TypeBoxTypes>();

  // For `localhost` Fastify listens on both addresses, and the second one asks this server itself.
  app.addHook('onRequest', (request, reply, done) => {
    const next = answering.get(app);
    if (next === undefined) return done();
    reply.hijack();
    next(request.raw, reply.raw);
  });
  const methodsOf = collectMethods(app);
  app.addHook('onResponse', (request, _reply, done) => {
    const { socket, complete } = request.raw;
    if (!complete) {
      answered.add(socket);
      // The connection's next request is unanswered again.
      request.raw.once('end', () => answered.delete(socket));
    }
    done();
  });
  const listening = listeningOf(app, trusted, options);
  limitStrangers(app, listening.limit, options);
  // Otherwise the connection would be kept for the next request.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (listening.isClosing) reply.header('connection', 'close');
    done();
  });
  app.setValidatorCompiler(compileSchema);
  app.setSerializerCompiler(serializeLater);
  app.setErrorHandler(onError);
  const sendNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const allowed = methodsOf(pathOf(request));
    if (allowed.length === 0) return sendError(reply, 404, 'There is nothing at this path.');
    // If another route matches all paths, the router comes here when a parameter is too long.
    if (allowed.includes(request.method)) return sendError(reply, 414, 'The path is not valid.');
    return sendError(reply.header('allow', allowed.join(', ')), 405, `Use ${allowed.join(' or ')} here.`);
  };
  app.setNotFoundHandler(sendNotFound);
  // Answer before reading the body.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? sendNotFound(request, reply) : undefined));
  return app;
}

/** The listener of the server whose requests this one answers, else its own. */
function listeningOf(app: Server, trusted: BlockList, options: ServerOptions): Listening {
  const shared = options.on && listenings.get(options.on);
  if (shared !== undefined) return shared;
  const listening: Listening = { isClosing: false, limit: limitListener(app, trusted, options) };
  listenings.set(app, listening);
  app.addHook('preClose', (done) => {
    listening.isClosing = true;
    // A closing server stops looking for late requests: half a request would keep the process alive.
    setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS).unref();
    done();
  });
  return listening;
}

/** Limits the connections of all clients together, and of each. */
function limitListener(app: Server, trusted: BlockList, { counts, ...limits }: ServerOptions): ConnectionLimit {
  app.server.maxConnections = limits.connectionLimit ?? CONNECTION_LIMIT;
  app.server.on('drop', () => {
    counts?.refused('connection');
    // Idle connections make room.
    app.server.closeIdleConnections();
  });
  return limitConnections(app.server, {
    most: limits.clientConnectionLimit ?? CLIENT_CONNECTION_LIMIT,
    trusted,
    onDrop: () => counts?.refused('connection'),
  });
}

function limitStrangers(app: Server, limit: ConnectionLimit, { log, counts, ...limits }: ServerOptions): void {
  limitBodies(app, { most: limits.bodiesLimit ?? BODIES_LIMIT, onCut: () => counts?.refused('body') });
  limit.follow(app);

  const delayFor = createFailureDelays(() => performance.now());
  let warnedAt = Number.NEGATIVE_INFINITY;
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (reply.statusCode !== 401) return done();
    counts?.unproven(request.routeOptions.url ?? 'no route');
    const waitMs = delayFor(request.ip);
    if (waitMs === 0) return done();
    if (performance.now() - warnedAt >= WARN_EVERY_MS) {
      warnedAt = performance.now();
      log?.warn(
        { from: request.ip, waitMs },
        'requests from this address keep failing authentication: delaying their answers',
      );
    }
    limit.markDelayed(request.raw);
    setTimeout(done, waitMs).unref();
  });
}

/** Collects the routes of a server, for the `Allow` of a 405. Call it before the first route is added. */
function collectMethods(app: Server): (path: string) => readonly string[] {
  const patterns = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = patterns.get(url) ?? new Set();
    for (const each of [method].flat()) if (each !== 'HEAD') methods.add(each);
    patterns.set(url, methods);
  });
  return (path) => {
    const found = [...patterns].flatMap(([pattern, methods]) => (fits(pattern, path) ? [...methods] : []));
    return [...new Set(found)].toSorted();
  };
}

function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return false;
  return wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]));
}

type Serializer = ReturnType<FastifySerializerCompiler<TSchema>>;

/** Writers of answers, by schema: routes share schemas, and a process may have several servers. */
const built = new WeakMap<TSchema, Serializer>();

/** Builds each writer at its first use: building all would take an eighth of the start-up. */
const serializeLater: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  return (data) => {
    let serializer = built.get(schema);
    if (serializer === undefined) {
      serializer = build(schema);
      built.set(schema, serializer);
    }
    return serializer(data);
  };
};
