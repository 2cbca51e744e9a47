/** A server in front of another that holds calls: what a daemon waits for while a test freezes it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

export interface Hold {
  /** The calls that it holds now, as `METHOD /path`. */
  readonly held: readonly string[];
  /** Holds no more calls; those that it has stay. */
  stop(): void;
  /** Lets go of what it holds. */
  release(): void;
}

export interface HoldingProxy {
  readonly url: string;
  /** Holds calls that match: `before` they reach the server, or `after` it did what they ask. */
  hold(match: RegExp, when: 'before' | 'after'): Hold;
}

/** Stands before the server at `target`; closed with the test. */
export async function holdingProxy(target: string): Promise<HoldingProxy> {
  const holds: { readonly match: RegExp; readonly when: string; wait(call: string): Promise<void> }[] = [];
  const wait = async (when: 'before' | 'after', call: string) => {
    for (const one of holds) if (one.when === when && one.match.test(call)) await one.wait(call);
  };
  const server = createServer(async (request, response) => {
    response.on('error', () => undefined);
    const { method = 'GET', url: path = '/' } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host: _host, connection: _connection, 'content-length': _length, ...rest } = request.headers;
    const headers = Object.entries(rest).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const body = Buffer.concat(chunks);
    await wait('before', `${method} ${path}`);
    const answer = await fetch(`${target}${path}`, { method, headers, ...(body.length > 0 && { body }) });
    const text = await answer.text();
    await wait('after', `${method} ${path}`);
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' }).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ends: (() => void)[] = [];
  onTestFinished(() => {
    for (const end of ends) end();
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    hold(match, when) {
      const open = Promise.withResolvers<void>();
      ends.push(open.resolve);
      const held: string[] = [];
      const one = {
        match,
        when,
        wait(call: string) {
          held.push(call);
          return open.promise;
        },
      };
      holds.push(one);
      return { held, release: open.resolve, stop: () => void holds.splice(holds.indexOf(one), 1) };
    },
  };
}
