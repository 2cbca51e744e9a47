/** The HTTP server: limits against strangers, one error body, schemas in TypeBox. Routes are added by others. */
import type { BlockList, Socket } from 'node:net';
import { type FastifyError, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { collectMethods } from './allowed-methods.ts';
import { errorBodyOf, HttpError, sendError } from './error.ts';
import { limitBodies } from './limits/bodies-in-flight.ts';
import { limitConnections } from './limits/connections.ts';
import { createFailureDelays } from './limits/failure-delays.ts';
import type { Server } from './listener.ts';
import { holds, networksOf } from './networks.ts';
import { serializeLater } from './serialize.ts';
import { compileSchema, InvalidRequest, type TypeBoxTypes } from './validate.ts';

export type { Server } from './listener.ts';

/** Where failures of our own go, and strangers are told of; a pino logger fits. */
export interface ServerLog {
  error(detail: object, message: string): void;
  warn(detail: object, message: string): void;
}

/** What is counted of strangers. */
export interface StrangerCounts {
  /** A connection or a body there was no room for. */
  refused(what: 'connection' | 'body'): void;
  /** A request that did not prove who sent it, by the pattern of its path. */
  unproven(route: string): void;
}

export interface ServerOptions {
  readonly log?: ServerLog;
  readonly counts?: StrangerCounts;
  /** Bytes of a body, 1 MiB where absent. */
  readonly bodyLimit?: number;
  /** Bytes that bodies hold together over all connections, 64 MiB where absent. */
  readonly bodiesLimit?: number;
  /** Connections at a time, 1,000 where absent. */
  readonly connectionLimit?: number;
  /** Ms in which a request must have come in, 10,000 where absent. */
  readonly requestTimeout?: number;
  /** Connections of one client at a time, 250 where absent. */
  readonly clientConnectionLimit?: number;
  /** Addresses and networks of the proxies whose X-Forwarded-* headers count; nobody's where absent. */
  readonly trustProxy?: readonly string[];
}

const BODY_LIMIT = 1024 * 1024;
const BODIES_LIMIT = 64 * 1024 * 1024;
const CONNECTION_LIMIT = 1_000;
/** Below a proxy that nobody named, this many requests at a time are enough; four such clients fill the server. */
const CLIENT_CONNECTION_LIMIT = 250;
const HEADER_LIMIT = 16 * 1024;
const REQUEST_TIMEOUT = 10_000;
const KEEP_ALIVE = 65_000;
/** Ms without any traffic: ends a reader that does not take its answer. Above the longest a handler may work. */
const SOCKET_TIMEOUT = 60_000;

/** Ms that requests under way have to end once the server closes. */
const CLOSE_GRACE_MS = 2_000;

/** Strangers may knock all day: one line a minute tells enough. */
const WARN_EVERY_MS = 60_000;

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '';

/** Texts for what Fastify refuses by itself: its own name the framework, not what to do. */
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
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not come in within its time.'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', `The headers are larger than ${HEADER_LIMIT} bytes.`],
};

/** Connections whose last request was answered before its body was there: they have had their answer. */
const answered = new WeakSet<Socket>();

/** Answers what never became a request, and ends the connection. */
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
 * Makes a server with its limits and its one error handler; it does not listen yet.
 *
 * While it closes, requests on open connections still reach their routes: those that must not accept work answer 503.
 * After two seconds they are cut.
 * A request that fails for a reason of ours answers 500 with a general text; the detail goes to the log only.
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
    // Closed at once, the connection would take the answer with it: the rest of the body is read and let go.
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
      // Node looks for late requests only this often, every 30 s by default.
      connectionsCheckingInterval: Math.min(1_000, requestTimeout),
    },
    routerOptions: { maxParamLength: 500 },
    requestIdHeader: false,
    return503OnClosing: false,
    trustProxy: (address: string | undefined) => holds(trusted, address),
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => void onError(error, request, reply),
  }).withTypeProvider<TypeBoxTypes>();

  const methodsOf = collectMethods(app);
  app.addHook('onResponse', (request, _reply, done) => {
    const { socket, complete } = request.raw;
    if (!complete) {
      answered.add(socket);
      // Then it is the next request's turn to be answered.
      request.raw.once('end', () => answered.delete(socket));
    }
    done();
  });
  limitStrangers(app, trusted, options);

  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    // A server that closes no longer looks for late requests: whoever sends half a one would keep the process.
    setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS).unref();
    done();
  });
  // Else the connection would be kept for the next request.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
  app.setValidatorCompiler(compileSchema);
  app.setSerializerCompiler(serializeLater);
  app.setErrorHandler(onError);
  const sendNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const allowed = methodsOf(pathOf(request));
    if (allowed.length === 0) return sendError(reply, 404, 'There is nothing at this path.');
    // Where another route takes all paths, the router comes here from one with a part that is too long.
    if (allowed.includes(request.method)) return sendError(reply, 414, 'The path is not valid.');
    return sendError(reply.header('allow', allowed.join(', ')), 405, `Use ${allowed.join(' or ')} here.`);
  };
  app.setNotFoundHandler(sendNotFound);
  // Before a body is read that nobody asked for.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? sendNotFound(request, reply) : undefined));
  return app;
}

/** Bounds what those cost who have proven nothing: memory, connections, and guesses. */
function limitStrangers(app: Server, trusted: BlockList, { log, counts, ...limits }: ServerOptions): void {
  limitBodies(app, { most: limits.bodiesLimit ?? BODIES_LIMIT, onCut: () => counts?.refused('body') });

  app.server.maxConnections = limits.connectionLimit ?? CONNECTION_LIMIT;
  app.server.on('drop', () => {
    counts?.refused('connection');
    // Those that are kept for a next request make room.
    app.server.closeIdleConnections();
  });

  const markDelayed = limitConnections(app, {
    most: limits.clientConnectionLimit ?? CLIENT_CONNECTION_LIMIT,
    trusted,
    onDrop: () => counts?.refused('connection'),
  });

  const delayFor = createFailureDelays(() => performance.now());
  let warnedAt = Number.NEGATIVE_INFINITY;
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (reply.statusCode !== 401) return done();
    counts?.unproven(request.routeOptions.url ?? 'no route');
    const waitMs = delayFor(request.ip);
    if (waitMs === 0) return done();
    if (performance.now() - warnedAt >= WARN_EVERY_MS) {
      warnedAt = performance.now();
      log?.warn({ from: request.ip, waitMs }, 'requests from this address keep failing to prove themselves: they wait');
    }
    markDelayed(request.raw);
    setTimeout(done, waitMs).unref();
  });
}
