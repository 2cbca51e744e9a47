/** Records in the audit what programs change by the admin API. */
import type { FastifyRequest } from 'fastify';
import type { Server } from '../http/server/server.ts';
import { recordAudit } from '../runtime/operators/audit.ts';
import type { Store } from '../store/store.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Records each request of this scope that may change something, before it is answered: who sent it, its method and route,
 * the parts of its path, and the status of the answer. Never its body, which may hold secrets.
 */
export function auditRequests(
  scope: Server,
  { store, now }: { readonly store: Store; readonly now: () => number },
  callerOf: (request: FastifyRequest) => string | undefined,
): void {
  scope.addHook('onSend', async (request, reply) => {
    const caller = callerOf(request);
    if (caller === undefined || READS.has(request.method)) return;
    const { url = '' } = request.routeOptions;
    const { params } = request;
    const parts = typeof params === 'object' && params !== null ? Object.values(params) : [];
    const entry = {
      actor: { kind: 'key', name: caller },
      via: 'api',
      action: `${request.method} ${url.replace('/admin/api', '')}`,
      subject: parts.map(String).join(' ').slice(0, 200) || undefined,
      result: `answered ${reply.statusCode}`,
    } as const;
    // What was done is done: an error now would have the program do it again.
    await store
      .write((tx) => recordAudit(tx, entry, now()))
      .catch((err) => request.log.error({ err, entry }, 'the audit could not keep a request'));
  });
}
