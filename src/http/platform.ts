import type { Registry } from 'prom-client';
import Type from 'typebox';
import { errorBody } from '../protocol/api.ts';
import { type AdminGuardOptions, guardAdmin } from './server/admin-guard.ts';
import { sendError } from './server/error.ts';
import type { Server } from './server/server.ts';

/** `reasons`: why the process cannot accept work, in plain lines. */
export interface Readiness {
  readonly ok: boolean;
  readonly reasons: readonly string[];
  /** Problems that do not prevent work: accounts that do not answer, since when. */
  readonly details?: readonly string[];
}

export interface Insight {
  readonly registry: Registry;
  readonly openapi: () => Promise<object>;
  /** Who may see it; without a guard, everybody who reaches the listener. */
  readonly guard?: AdminGuardOptions | undefined;
}

const ASK_AGAIN = 10;

const yes = Type.Object({ ok: Type.Literal(true) }, { description: 'Yes' });
const yesWithDetails = Type.Object(
  { ok: Type.Literal(true), details: Type.Optional(Type.Array(Type.String())) },
  { description: 'Yes; `details` lists the accounts that do not answer' },
);
const unreadable = Type.Object(errorBody.properties, {
  description: 'The request is not valid HTTP, or its headers exceed 16 KiB',
});
const text = { description: 'Text format', content: { 'text/plain': { schema: Type.String() } } };
const about = <R extends object>(operationId: string, summary: string, response: R) => ({
  operationId,
  summary,
  tags: ['platform'],
  security: [],
  response: { ...response, '4xx': unreadable },
});

/**
 * Adds `/live` and `/ready`, without authentication. `hide` is for the admin listener: it leaves the routes out of the
 * document, and `/ready` gives details, which are not for strangers.
 */
export function addHealthRoutes(app: Server, ready: () => Promise<Readiness>, { hide = false } = {}): void {
  const live = { ...about('live', 'The process runs', { 200: yes }), hide };
  app.get('/live', { schema: live }, async () => ({ ok: true }) as const);

  const notReady = Type.Object(errorBody.properties, { description: 'No; `errors` says why' });
  const schema = {
    ...about('ready', 'Ready to accept events', { 200: yesWithDetails, 503: notReady }),
    hide,
  };
  app.get('/ready', { schema }, async (_request, reply) => {
    const readiness = await readinessOf(ready);
    const { details = [] } = readiness;
    if (readiness.ok)
      return hide && details.length > 0 ? { ok: true as const, details: [...details] } : { ok: true as const };
    const errors = readiness.reasons.map((message) => ({ path: '', message }));
    return sendError(reply, 503, 'Not ready.', { errors, retryAfter: ASK_AGAIN });
  });
}

export function addInsightRoutes(app: Server, insight: Insight): void {
  const { registry, openapi, guard } = insight;
  app.register(async (scope) => {
    if (guard !== undefined) guardAdmin(scope, guard);
    const security = guard === undefined ? [] : [{ adminToken: [] }];

    const metrics = { ...about('metrics', 'Prometheus metrics', { 200: text }), security };
    scope.get('/metrics', { schema: metrics }, async (_request, reply) =>
      reply.type(registry.contentType).send(await registry.metrics()),
    );

    const whole = { description: 'This document', content: { 'application/json': { schema: Type.Unknown() } } };
    const document = {
      ...about('openapi', 'The API of this server, as an OpenAPI document', { 200: whole }),
      security,
    };
    scope.get('/openapi.json', { schema: document }, async (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(JSON.stringify(await openapi())),
    );
  });
}

const readinessOf = async (ready: () => Promise<Readiness>): Promise<Readiness> => {
  try {
    return await ready();
  } catch {
    return { ok: false, reasons: ['the check itself failed: the store does not answer'] };
  }
};
