/** Limits failed sign-ins by client, and records them in the log and the audit. Never limits a valid sign-in. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type CallLimit, createCallLimit } from '../../http/server/call-limit.ts';
import { clientOf } from '../../http/server/networks.ts';
import type { ServerLog } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import type { Store } from '../../store/store.ts';
import { tooManyPage } from '../page/messages.ts';
import { type RouteDeps, readerOfRequest, sendPage } from '../routes/routes.ts';

/** Attempts of a client in a minute. */
const MOST = 10;
/** Notes of failures in a minute, over all clients: each stays in the audit. */
const MOST_NOTES = 20;

export interface SignInDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly log: ServerLog;
}

/** Counts the failed sign-ins of clients. */
export interface Attempts {
  /** Counts a failure, and notes it once a minute and client. Answers if there were too many. */
  failed(to: Exchange, result: string): Promise<FastifyReply | undefined>;
  /** Counts the begin of a sign-on, which costs a call to the issuer. Answers if there were too many. */
  began(to: Exchange): FastifyReply | undefined;
}

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Counts in this process only. */
export function createAttempts({ store, now, log }: SignInDeps, halves: RouteDeps['halves']): Attempts {
  const [failures, begins] = [createCallLimit(MOST), createCallLimit(MOST)];
  const [ownNotes, allNotes] = [createCallLimit(1), createCallLimit(MOST_NOTES)];
  const refuse = ({ request, reply }: Exchange, limit: CallLimit): FastifyReply | undefined => {
    const wait = limit(clientOf(request.ip));
    if (wait === undefined) return undefined;
    return sendPage(
      { request, reply: reply.header('retry-after', wait), halves },
      tooManyPage(readerOfRequest(request)),
    );
  };
  async function note({ ip }: FastifyRequest, result: string): Promise<void> {
    const client = clientOf(ip);
    if (ownNotes(client) !== undefined || allNotes('') !== undefined) return;
    log.warn({ from: client, result }, 'a sign-in failed');
    const actor = { kind: 'stranger', name: client } as const;
    await store.write((tx) => recordAudit(tx, { actor, via: 'page', action: 'session.refuse', result }, now()));
  }
  return {
    async failed(to, result) {
      await note(to.request, result);
      return refuse(to, failures);
    },
    began: (to) => refuse(to, begins),
  };
}
