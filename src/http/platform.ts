/** What the platform asks a process: is it alive, can it take work, how is it doing, what does it speak. */
import type { Registry } from 'prom-client';
import Type from 'typebox';
import { errorBody } from '../protocol/api.ts';
import { sendError } from './error.ts';
import type { Server } from './server.ts';

/** Whether work can be taken; `reasons` says in plain lines why not. */
export interface Readiness {
  readonly ok: boolean;
  readonly reasons: readonly string[];
}

export interface Platform {
  readonly ready: () => Promise<Readiness>;
  readonly registry: Registry;
  /** Brings gauges that are read from the store up to date before a scrape; where it fails they keep their last values. */
  readonly refresh?: () => Promise<void>;
  /** The OpenAPI document; asked for once per request. */
  readonly openapi: () => object;
}

/** Seconds after which a caller who found us not ready should ask again. */
const ASK_AGAIN = 10;

const yes = Type.Object({ ok: Type.Literal(true) }, { description: 'Yes' });
const unreadable = Type.Object(errorBody.properties, { description: 'No HTTP, or headers over 16 KiB' });
const text = { description: 'Text format', content: { 'text/plain': { schema: Type.String() } } };
const about = <R extends object>(operationId: string, summary: string, response: R) => ({
  operationId,
  summary,
  tags: ['platform'],
  security: [],
  response: { ...response, '4xx': unreadable },
});

/** Adds `/live`, `/ready`, `/metrics` and `/openapi.json`. None of them is authenticated and none shows more than state. */
export function addPlatformRoutes(app: Server, platform: Platform): void {
  app.get('/live', { schema: about('live', 'The process runs', { 200: yes }) }, async () => ({ ok: true }) as const);

  const notReady = Type.Object(errorBody.properties, { description: 'No; `errors` says why' });
  const ready = about('ready', 'Events can be taken', { 200: yes, 503: notReady });
  app.get('/ready', { schema: ready }, async (_request, reply) => {
    const readiness = await readinessOf(platform.ready);
    if (readiness.ok) return { ok: true } as const;
    const errors = readiness.reasons.map((message) => ({ path: '', message }));
    return sendError(reply, 503, 'Not ready.', { errors, retryAfter: ASK_AGAIN });
  });

  const metrics = about('metrics', 'Prometheus metrics', { 200: text });
  app.get('/metrics', { schema: metrics }, async (_request, reply) => {
    // A store that is down is worth seeing in the other metrics: it must not take the scrape with it.
    await platform.refresh?.().catch(() => undefined);
    return reply.type(platform.registry.contentType).send(await platform.registry.metrics());
  });

  const whole = { description: 'This document', content: { 'application/json': { schema: Type.Unknown() } } };
  const document = about('openapi', 'What is answered here, as OpenAPI', { 200: whole });
  app.get('/openapi.json', { schema: document }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(platform.openapi())),
  );
}

const readinessOf = async (ready: Platform['ready']): Promise<Readiness> => {
  try {
    return await ready();
  } catch {
    return { ok: false, reasons: ['the check itself failed: the store does not answer'] };
  }
};
