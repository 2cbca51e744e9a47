/**
 * Tests whether the ports of a configuration are free, before the start creates anything that a failure would leave
 * behind.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { listenError } from './listen-error.ts';

/** Listens for a moment at the host and port of each section, all at once. Throws the error of a real server. */
export async function tryPorts(
  sections: Readonly<Record<string, { readonly host: string; readonly port: number }>>,
): Promise<void> {
  const servers: Server[] = [];
  try {
    for (const [section, { host, port }] of Object.entries(sections)) {
      const server = createServer().listen({ host, port });
      servers.push(server);
      await once(server, 'listening').catch((error) => {
        throw listenError(error, { host, port }, { host: `${section}.host`, port: `${section}.port` });
      });
    }
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}
