/** Bounds the memory that bodies take before anybody has looked at them, over all connections. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError, sendError } from '../error.ts';
import type { Server } from '../listener.ts';

export interface BodyLimits {
  /** Bytes that all bodies hold together. */
  readonly most: number;
  /** Called for each request that was given up to make room. */
  readonly onCut: () => void;
}

/** Seconds after which a sender whose body had no room should come again. */
const COME_AGAIN = 5;

interface Held {
  bytes: number;
  readonly reply: FastifyReply;
}

/**
 * Counts the bytes of all bodies from their first to the end of their answer. Where they are too many, the oldest that are
 * not whole yet are given up with 503: who sends half a body and waits loses it, and whoever sends a whole one is not hurt.
 * Compressed bodies answer 415: what they would become cannot be counted.
 */
export function limitBodies(app: Server, { most, onCut }: BodyLimits): void {
  // In the order in which they began.
  const held = new Map<FastifyRequest, Held>();
  let total = 0;

  const release = (request: FastifyRequest): void => {
    total -= held.get(request)?.bytes ?? 0;
    held.delete(request);
  };

  const cut = (request: FastifyRequest, reply: FastifyReply): void => {
    release(request);
    onCut();
    reply.raw.once('finish', () => request.raw.destroy());
    sendError(reply.header('connection', 'close'), 503, 'Too many bodies are being sent at once: send it again.', {
      retryAfter: COME_AGAIN,
    });
  };

  const makeRoom = (): void => {
    for (const [request, { reply }] of held) {
      if (total <= most) return;
      if (!request.raw.complete) cut(request, reply);
    }
  };

  app.addHook('preParsing', (request, reply, payload, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
      done(new HttpError(415, 'The body is compressed: send it as it is, without Content-Encoding.'));
      return;
    }
    const { 'content-length': length, 'transfer-encoding': chunks } = request.headers;
    if (chunks === undefined && (length === undefined || length === '0')) {
      done(null, payload);
      return;
    }
    const count = (chunk: Uint8Array): void => {
      const entry = held.get(request);
      if (entry === undefined) return;
      entry.bytes += chunk.length;
      total += chunk.length;
      if (total > most) makeRoom();
    };
    held.set(request, { bytes: 0, reply });
    payload.on('data', count);
    reply.raw.once('close', () => {
      payload.off('data', count);
      release(request);
    });
    done(null, payload);
  });
}
