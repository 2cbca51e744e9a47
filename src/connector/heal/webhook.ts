/** The webhook route of the CRMs, which report deleted, merged, created and edited records. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { CrmRequest, WebhookRead } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import { sendError } from '../../http/server/error.ts';
import { acceptRaw } from '../../http/server/raw-body.ts';
import type { Server } from '../../http/server/server.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { formOf, pureAnswer } from '../crm/record-id.ts';
import { namedRecords, unlinkedRecords } from '../follow/change-hints.ts';
import { SAFETY_LIMIT_KEY } from '../follow/safety-limit.ts';
import { healQueue, matchQueue } from '../names/queues.ts';

export interface CrmWebhookOptions {
  readonly crms: readonly Crm[];
  readonly store: Store;
  /** Our address for the CRMs, which is part of what they sign; undefined: the address that they call. */
  readonly publicUrl: string | undefined;
  readonly refusal: () => string | undefined;
  readonly metrics: Pick<Metrics, 'crmWebhooks'>;
  readonly now: () => number;
  readonly log: {
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
}

const RETRY_AFTER_S = 30;
/** Anybody may post, so log one line a minute. */
const LOG_EVERY_MS = 60_000;
const NOTHING = Buffer.alloc(0);
const PARAMS = Type.Object({ provider: Type.String() });

/**
 * Adds `POST /providers/{provider}/webhook`. 204 once the records are marked for a read; the content of the body is not
 * trusted. 401 if the provider does not recognise the sender, 400 if it cannot read the body, 404 for a missing
 * connection or one without webhooks, 503 with Retry-After for failures of cvrsync.
 */
export function addCrmWebhookRoute(server: Server, options: CrmWebhookOptions): void {
  const { crms, store, refusal, metrics, now, log } = options;
  const byName = new Map(crms.map((crm) => [crm.name, crm]));
  const loggedAt = new Map<string, number>();

  const report = (level: 'warn' | 'error', provider: string, details: object, message: string): void => {
    if (now() - (loggedAt.get(provider) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return;
    loggedAt.set(provider, now());
    log[level]({ provider, ...details }, message);
  };

  const read = (crm: Crm, request: FastifyRequest): WebhookRead | undefined => {
    const { webhook } = crm.provider;
    return pureAnswer(webhook?.call(crm.provider, requestOf(request, options.publicUrl), crm.settings, now()));
  };

  const failed = (reply: FastifyReply, provider: string, result: 'refused' | 'failed', why: string): FastifyReply => {
    metrics.crmWebhooks.inc({ provider, result });
    return sendError(reply, 503, why, { retryAfter: RETRY_AFTER_S });
  };

  const refuse = (name: string, reply: FastifyReply): FastifyReply | undefined => {
    if (byName.get(name)?.provider.webhook === undefined)
      return sendError(reply, 404, 'No connection of this name takes webhooks: see connector.providers.');
    if (refusal() === undefined) return undefined;
    return failed(reply, name, 'refused', 'Nothing can be taken at the moment.');
  };

  const handle = async (name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const crm = byName.get(name);
    const refusedReply = refuse(name, reply);
    if (refusedReply !== undefined || crm === undefined) return refusedReply ?? reply;
    const answer = (result: string): void => metrics.crmWebhooks.inc({ provider: name, result });
    const fail = (error: unknown, what: string): FastifyReply => {
      report('error', name, { err: error }, `${what}: the CRM will send it again`);
      return failed(reply, name, 'failed', 'The webhook could not be taken.');
    };
    let webhook: WebhookRead | undefined;
    try {
      webhook = read(crm, request);
    } catch (error) {
      return fail(error, 'the provider threw while it read a webhook of its CRM, which is a fault of the provider');
    }
    if (webhook?.kind === 'records') {
      try {
        await markRecords(crm, webhook.ids);
      } catch (error) {
        return fail(error, 'could not store a webhook of the CRM');
      }
      answer('taken');
      return reply.code(204).send();
    }
    const reason = webhook?.reason ?? 'the provider says nothing of it';
    const advice = 'a webhook of the CRM was not taken: check its secret, and server.publicUrl behind a proxy';
    report('warn', name, { reason, from: request.ip }, advice);
    if (webhook?.kind === 'refused') {
      answer('unauthorized');
      return sendError(reply, 401, 'The webhook does not prove who sent it.');
    }
    answer('unreadable');
    return sendError(reply, 400, `The webhook cannot be used: ${reason}.`);
  };

  const markRecords = async (crm: Crm, ids: readonly string[]): Promise<void> => {
    // Ignores names that no record can have.
    const records = ids.flatMap((id) => formOf(crm)(id) ?? []).filter((id) => id !== SAFETY_LIMIT_KEY);
    if (records.length === 0) return;
    await store.write(async (tx) => {
      const keys = await namedRecords(tx, crm, records);
      if (keys.length > 0) await mark(tx, healQueue(crm.name), keys, now());
      const unlinked = await unlinkedRecords(tx, crm, records);
      if (unlinked.length > 0) await mark(tx, matchQueue(crm.name), unlinked, now());
    });
  };

  server.register(async (scope) => {
    acceptRaw(scope);
    // The CRM defines the body, so the document does not describe it.
    scope.post<{ Params: { readonly provider: string } }>(
      '/providers/:provider/webhook',
      {
        schema: { hide: true, params: PARAMS },
        onRequest: async (request, reply) => refuse(request.params.provider, reply),
      },
      (request, reply) => handle(request.params.provider, request, reply),
    );
  });
}

function requestOf(request: FastifyRequest, publicUrl: string | undefined): CrmRequest {
  const path = request.raw.url ?? request.url;
  const base = publicUrl ?? `${request.protocol}://${request.headers.host ?? ''}`;
  const body = request.body instanceof Uint8Array ? request.body : NOTHING;
  return { method: request.method, url: `${base}${path}`, headers: singleHeaders(request.headers), body };
}

/** As the contract defines headers: one text for each name. */
const singleHeaders = (headers: IncomingHttpHeaders): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
