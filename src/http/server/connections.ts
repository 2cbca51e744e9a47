/** Limits the connections of one client, so that it leaves room for others. */
import type { IncomingMessage, Server as Listener } from 'node:http';
import type { BlockList, Socket } from 'node:net';
import type { Server } from './listener.ts';
import { clientOf, holds } from './networks.ts';

export interface ConnectionLimits {
  readonly most: number;
  /** Proxies, which carry many clients and have no limit. */
  readonly trusted: BlockList;
  readonly onDrop: () => void;
}

export interface ConnectionLimit {
  /** Tracks the requests of an app, to know which connections are busy. */
  follow(app: Server): void;
  /** Marks a request as delayed: its connection waits. */
  readonly markDelayed: (request: IncomingMessage) => void;
}

/**
 * Closes the oldest idle connection of a client that has too many: one that waits for a request, for the rest of one,
 * or for a delayed answer. If all are busy, closes the new one.
 */
export function limitConnections(listener: Listener, { most, trusted, onDrop }: ConnectionLimits): ConnectionLimit {
  const byClient = new Map<string, Set<Socket>>();
  const working = new WeakMap<Socket, IncomingMessage>();
  const isAtWork = (socket: Socket): boolean => working.get(socket)?.complete === true;

  listener.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (holds(trusted, address)) return;
    const client = clientOf(address);
    // Oldest first.
    const own = byClient.get(client) ?? new Set();
    byClient.set(client, own.add(socket));
    socket.once('close', () => {
      own.delete(socket);
      if (own.size === 0 && byClient.get(client) === own) byClient.delete(client);
    });
    if (own.size <= most) return;
    const oldest = own.values().find((one) => !isAtWork(one)) ?? socket;
    // The socket closes later and must not count until then.
    own.delete(oldest);
    oldest.destroy();
    onDrop();
  });
  return {
    follow(app) {
      app.addHook('onRequest', (request, _reply, done) => {
        working.set(request.raw.socket, request.raw);
        done();
      });
      app.addHook('onResponse', (request, _reply, done) => {
        working.delete(request.raw.socket);
        done();
      });
    },
    markDelayed: ({ socket }) => void working.delete(socket),
  };
}
