/** Limits the memory of request bodies that no route has seen yet, over all connections. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError, sendError } from './error.ts';
import type { Server } from './listener.ts';

export interface BodyLimits {
  readonly most: number;
  readonly onCut: () => void;
}

const COME_AGAIN = 5;

interface Held {
  bytes: number;
  readonly reply: FastifyReply;
}

/**
 * Counts the bytes of all bodies from the first byte to the end of the answer. Above the limit it answers 503 to the
 * oldest incomplete ones, so a stalled sender loses its request, and a complete one does not. Compressed bodies get
 * 415, because their real size is unknown.
 */
export function limitBodies(app: Server, { most, onCut }: BodyLimits): void {
  // Oldest first.
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
      done(new HttpError(415, 'The body is compressed: send it uncompressed, without Content-Encoding.'));
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
