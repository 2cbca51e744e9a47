/** One connection of a process of the world to PostgreSQL: how far it is, and what arrived for the process. */
import type { Socket } from 'node:net';
import { readAnswers } from './answers.ts';
import type { Owner } from './time.ts';

export interface Connection {
  readonly owner: Owner | undefined;
  /** Of the server's process, once it is known. */
  pid: number | undefined;
  /** The server was asked something, and did not answer yet. */
  isAsked: boolean;
  /** Its statement waits for a lock of a connection that does nothing. */
  isStuck: boolean;
  isInTransaction: boolean;
  /** The server closed it, which the process may not know yet. */
  isClosed: boolean;
  /** An answer is on its way to the process. */
  isUnread: boolean;
  hasArrived(): boolean;
  /** Drops what the server answered; that it closed the connection stays. */
  lose(): void;
  /** Takes what arrived and nobody received; returns what hands it to the process, or undefined if nothing arrived. */
  take(): (() => void) | undefined;
  /** Closes it for a process that is gone: it receives nothing more. */
  cut(): void;
}

/** Called when something happened: `freed` if a transaction ended, and its locks with it. */
export type Progress = (connection: Connection, what: 'answered' | 'freed' | 'closed') => void;

/** Takes what the server sends to a socket that begins to connect, instead of the process. */
export function takeConnection(socket: Socket, owner: Owner | undefined, onProgress: Progress): Connection {
  const receive = socket.push.bind(socket);
  const read = readAnswers();
  const arrived: (Buffer | null)[] = [];
  const connection: Connection = {
    ...{
      owner,
      pid: undefined,
      isAsked: true,
      isStuck: false,
      isInTransaction: false,
      isClosed: false,
      isUnread: false,
    },
    hasArrived: () => arrived.length > 0,
    lose() {
      arrived.splice(0, arrived.length, ...(connection.isClosed ? [null] : []));
    },
    take() {
      if (arrived.length === 0) return undefined;
      const chunks = arrived.splice(0);
      connection.isUnread = true;
      return () => {
        connection.isUnread = false;
        // The socket closes next.
        if (chunks.includes(null)) connection.isAsked = true;
        for (const chunk of chunks) receive(chunk);
      };
    },
    cut() {
      socket.removeAllListeners();
      socket.on('error', () => undefined);
      socket.destroy();
    },
  };
  const ready = (state: string): void => {
    connection.isAsked = false;
    connection.isInTransaction = state !== 'I';
    // A transaction that failed has no locks.
    onProgress(connection, state === 'T' ? 'answered' : 'freed');
  };
  socket.push = (chunk: Buffer | null): boolean => {
    arrived.push(chunk);
    if (chunk === null) {
      connection.isClosed = true;
      ready('I');
    }
    for (const answer of chunk === null ? [] : read(chunk)) {
      if (answer.kind === 'ready') ready(answer.state);
      else connection.pid = answer.pid;
    }
    return true;
  };
  const write: unknown = socket.write;
  // Node puts another in its place when the socket ends.
  Object.defineProperty(socket, 'write', {
    writable: true,
    value(...given: unknown[]): unknown {
      connection.isAsked = true;
      return typeof write === 'function' && Reflect.apply(write, socket, given);
    },
  });
  socket.on('close', () => onProgress(connection, 'closed'));
  return connection;
}
