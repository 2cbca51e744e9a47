/** The webhook route: stores an event and answers. Reading it follows later; see `arrivals.ts`. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Metrics } from '../../http/metrics.ts';
import { sendError } from '../../http/server/error.ts';
import { acceptRawJson } from '../../http/server/raw-body.ts';
import type { Server } from '../../http/server/server.ts';
import { errorBody } from '../../protocol/api.ts';
import { type Auth, type AuthResult, verifyAuth, verifyHeaders } from '../../protocol/auth.ts';
import { readHead, writePayload } from '../../protocol/payload.ts';
import { payloadSchema } from '../../protocol/payload-schema.ts';
import type { Issue } from '../../protocol/shape.ts';
import { readJson } from '../../protocol/text/json.ts';
import { setAside } from '../../store/erasure/quarantine.ts';
import type { Store } from '../../store/store.ts';
import { type DebugLog, shows } from '../../telemetry/debug-log.ts';
import { inSpan, type SpanStart, traceToStore } from '../../telemetry/trace.ts';
import type { Intake } from './intake.ts';

export interface WebhookOptions {
  readonly path: string;
  /** Any of these proves the sender: two during a rotation. Called at each request. */
  readonly auth: readonly Auth[];
  readonly emailEvent?: string;
  readonly intake: Intake;
  /** Shows what a test event would do. Returns why it is not a payload; undefined if it is one. */
  readonly showTest: (json: unknown) => Promise<string | undefined>;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly now: () => number;
  readonly log: Log;
}

interface Log extends DebugLog {
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

const RETRY_AFTER_S = 30;
/** Anybody may post, so log one line a minute. */
const LOG_EVERY_MS = 60_000;
const NOTHING = Buffer.alloc(0);

const EXAMPLE = {
  entityId: 'CVR-1-10000001',
  timestamp: '2026-03-01T09:14:02Z',
  updates: { name: { before: 'Birk ApS', after: 'Birk Byg ApS' } },
};

const SCHEMA = {
  operationId: 'receiveEvent',
  summary: 'Accepts one company event of the monitoring service',
  description: 'Authentication as configured in `connector.webhook.auth`.',
  tags: ['webhook'],
  security: [],
  response: {
    204: Type.Null({ description: 'The event is on disk, now or from an earlier delivery' }),
    400: Type.Object(errorBody.properties, { description: 'Not JSON, or not a payload' }),
    401: Type.Object(errorBody.properties, { description: 'The sender did not prove itself' }),
    413: Type.Object(errorBody.properties, { description: 'Over 1 MiB' }),
    415: Type.Object(errorBody.properties, { description: 'Not JSON' }),
    503: Type.Object(errorBody.properties, { description: 'A failure of our own; send it again after Retry-After' }),
  },
};

/** Continues the sender's trace: only a proven sender decides which traces are sent. */
function inSpanOfCaller<T>({ headers }: FastifyRequest, entity: string, work: () => Promise<T>): Promise<T> {
  const { traceparent: caller } = headers;
  const parent = typeof caller === 'string' ? caller : undefined;
  const start = (): SpanStart => ({ kind: 'server', parent, attributes: { 'cvrsync.entity': entity } });
  return inSpan('webhook', start, work);
}

/** Anybody may cause these warnings: one a minute. */
function rareWarnings(log: Log, now: () => number): Log['warn'] {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (details, message) => {
    if (now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = now();
    log.warn(details, message);
  };
}

/** Our own service marks test events so. */
const isTest = ({ headers }: FastifyRequest): boolean => String(headers['webhook-test']).toLowerCase() === 'true';

async function answerTest(
  { metrics, showTest }: Pick<WebhookOptions, 'metrics' | 'showTest'>,
  reply: FastifyReply,
  bytes: Uint8Array,
): Promise<FastifyReply> {
  metrics.webhooksReceived.inc({ result: 'test' });
  const json = readJson(bytes);
  const problem = json.ok ? await showTest(json.value) : json.reason;
  if (problem !== undefined) return sendError(reply, 400, `The webhook cannot be used: ${problem}.`);
  return reply.code(204).send();
}

const sentId = ({ headers: { 'webhook-id': id } }: FastifyRequest): string | undefined =>
  typeof id === 'string' ? id : undefined;

/** Uses the name that the event has in the log later. */
function showAnswer(
  { intake, log }: Pick<WebhookOptions, 'intake' | 'log'>,
  status: number,
  { id, entity, json }: { readonly id: string | undefined; readonly entity: string; readonly json: unknown },
): void {
  if (shows(log, 'debug'))
    log.debug?.({ request: intake.requestId(id, json), entity, status }, 'a webhook was answered');
}

const RESULTS = ['stored', 'test', 'unusable', 'unauthorized', 'unreadable', 'refused', 'failed'];

/**
 * Adds the webhook. 204 once the event is on disk, also for a repeat or a test; 4xx if the sender must change
 * something; 503 with Retry-After for failures of cvrsync.
 */
export function addWebhookRoute(server: Server, options: WebhookOptions): void {
  const { path, intake, store, metrics, now, log } = options;
  const warn = rareWarnings(log, now);
  // Without a zero first, Prometheus sees no increase.
  for (const result of RESULTS) metrics.webhooksReceived.inc({ result }, 0);

  const unavailable = (reply: FastifyReply, result: 'refused' | 'failed', message: string): FastifyReply => {
    metrics.webhooksReceived.inc({ result });
    return sendError(reply, 503, message, { retryAfter: RETRY_AFTER_S });
  };

  const unusable = async (reply: FastifyReply, body: Uint8Array, errors: readonly Issue[]): Promise<FastifyReply> => {
    metrics.webhooksReceived.inc({ result: 'unusable' });
    const reason = errors.map((error) => `${error.path} ${error.message}`.trim()).join('; ');
    await store
      .write((tx) => setAside(tx, { source: 'webhook', reason, body, now: now() }))
      .catch((error) => log.error({ err: error }, 'could not keep a copy of an unusable webhook'));
    return sendError(reply, 400, `The webhook cannot be used: ${reason}.`, { errors });
  };

  /** Refuses a request before its body counts; undefined if the sender is proven. */
  const refuse = (request: FastifyRequest, reply: FastifyReply, prove: () => AuthResult): FastifyReply | undefined => {
    const refusal = intake.refusal();
    if (refusal !== undefined) {
      warn({ reason: refusal }, 'webhooks are refused');
      return unavailable(reply, 'refused', 'No events can be taken at the moment.');
    }
    const proof = prove();
    if (proof.ok) return undefined;
    metrics.webhooksReceived.inc({ result: 'unauthorized' });
    warn({ reason: proof.reason, from: request.ip }, 'a webhook did not prove its sender');
    return sendError(reply, 401, 'The webhook does not prove who sent it: check the authentication of the monitor.');
  };

  const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const began = performance.now();
    const bytes = request.body instanceof Uint8Array ? request.body : NOTHING;
    const proof = verifyAuth(options.auth, request.headers, bytes, now());
    const refusedReply = refuse(request, reply, () => proof);
    if (refusedReply !== undefined) return refusedReply;
    if (isTest(request)) return answerTest(options, reply, bytes);
    const json = readJson(bytes);
    if (!json.ok) return unusable(reply, bytes, [{ path: '', message: json.reason }]);
    const head = readHead(json.value);
    if (!head.ok) return unusable(reply, bytes, head.errors);
    const id = sentId(request);
    const named = { id, entity: head.entityId, json: json.value };
    try {
      await inSpanOfCaller(request, head.entityId, () =>
        intake.accept({
          body: json.text,
          webhookId: id,
          isSigned: proof.ok && proof.signed === true,
          trace: traceToStore(),
        }),
      );
    } catch {
      showAnswer(options, 503, named);
      return unavailable(reply, 'failed', 'The event could not be stored.');
    }
    metrics.webhooksReceived.inc({ result: 'stored' });
    metrics.webhookAckSeconds.observe((performance.now() - began) / 1_000);
    showAnswer(options, 204, named);
    return reply.code(204).send();
  };

  server.register(async (scope) => {
    acceptRawJson(scope);
    // Runs before the body is read: an unproven sender must cost no memory.
    scope.addHook('onRequest', async (request, reply) =>
      refuse(request, reply, () => verifyHeaders(options.auth, request.headers, now())),
    );
    scope.setErrorHandler((error: Error & { statusCode?: number }) => {
      metrics.webhooksReceived.inc({ result: 'unreadable' });
      throw error;
    });
    const describedBody = { ...payloadSchema(options), examples: [writePayload(EXAMPLE, options)] };
    scope.post(path, { schema: SCHEMA, config: { describedBody } }, handle);
  });
}
