/** A pooler in transaction mode, as PgBouncer is: a session of the server serves whoever's transaction is next. */
import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What PgBouncer takes at the start of a session. */
const TAKEN = ['user', 'database', 'application_name', 'client_encoding'];

/** Stands before the database at `url`, a Unix socket; returns its own URL. Closed with the test. */
export async function transactionPooler(url: string): Promise<string> {
  const { searchParams, pathname } = new URL(url);
  const idle: Socket[] = [];
  const sockets = new Set<Socket>();
  /** Gets what the server says next to the socket's session. */
  const listeners = new WeakMap<Socket, (message: Buffer) => void>();

  async function open(): Promise<Socket> {
    const session = dial(`${searchParams.get('host')}/.s.PGSQL.5432`);
    sockets.add(session);
    eachMessage(session, (message) => listeners.get(session)?.(message));
    const ready = new Promise<void>((resolve) => listeners.set(session, (message) => isReady(message) && resolve()));
    const parameters = Buffer.from(`user\0postgres\0database\0${pathname.slice(1)}\0\0`);
    session.write(Buffer.concat([int(8 + parameters.length), int(196_608), parameters]));
    await ready;
    return session;
  }

  function serve(client: Socket): void {
    let session: Promise<Socket> | undefined;
    let hasBegun = false;
    const forward = async (data: Buffer): Promise<void> => {
      session ??= Promise.resolve(idle.pop() ?? open());
      const held = await session;
      listeners.set(held, (message) => {
        if (isIdle(message)) {
          idle.push(held);
          session = undefined;
        }
        client.write(message);
      });
      held.write(data);
    };
    client.on('data', (data) => {
      if (hasBegun) return void forward(data);
      hasBegun = true;
      const names = data
        .subarray(8)
        .toString()
        .split('\0')
        .filter((_, at) => at % 2 === 0);
      const refused = names.find((name) => name !== '' && !TAKEN.includes(name));
      if (refused === undefined)
        client.write(Buffer.concat([told('R', int(0)), told('K', int(7), int(7)), told('Z', Buffer.from('I'))]));
      else client.end(told('E', Buffer.from(`SFATAL\0C08P01\0Munsupported startup parameter: ${refused}\0\0`)));
    });
  }

  const server = createServer((client) => {
    client.setNoDelay(true);
    sockets.add(client.on('error', () => {}));
    serve(client);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  const address = server.address();
  return `postgres://postgres@127.0.0.1:${typeof address === 'object' ? address?.port : ''}${pathname}`;
}

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const told = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int(4 + body.length), body]);
};

const isReady = (message: Buffer): boolean => message.toString('latin1', 0, 1) === 'Z';
const isIdle = (message: Buffer): boolean => isReady(message) && message.toString('latin1', 5) === 'I';

/** Calls with each whole message that comes in. */
function eachMessage(socket: Socket, take: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 5 && rest.length >= 1 + rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      take(message);
    }
  });
}
