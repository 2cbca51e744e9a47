/** Raw sockets and small TCP servers for tests: what a well-behaved client or server would never do. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Connects, writes the parts in turn, and resolves to everything that came back once the other side has closed. */
export async function converse(port: number, ...parts: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    heard += text;
  });
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  for (const part of parts) socket.write(part);
  if (!socket.closed) await once(socket, 'close');
  return heard;
}

/** A TCP server whose behaviour is the argument; `seen` holds what every connection sent. */
export interface RawServer {
  readonly port: number;
  readonly url: string;
  readonly seen: string[];
  close(): Promise<void>;
}

/** Serves raw TCP on loopback: `behave` is called with each connection at its first bytes. */
export async function serveRaw(behave: (socket: Socket, first: string) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const seen: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', (data) => {
      seen.push(data.toString());
      behave(socket, data.toString());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
