/** A door before an emulator: open, or shut in one of the ways in which a service is away. */
import { once } from 'node:events';
import { createServer } from 'node:http';

export interface Gate {
  readonly url: string;
  /** What every request is answered; undefined lets it through, `cut` breaks the connection off. */
  answer: { readonly status: number; readonly body: object } | 'cut' | undefined;
  close(): void;
}

/** `targetOf`: where a request for a path goes. */
export async function openGate(targetOf: (path: string) => string): Promise<Gate> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { answer } = gate;
    if (answer === 'cut') {
      request.socket.destroy();
      return;
    }
    if (answer !== undefined) {
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
      return;
    }
    const { method = 'GET', url = '/', headers } = request;
    const kept = Object.entries(headers).filter(([name]) => !/^(?:host|connection|content-length|expect)$/u.test(name));
    const body = Buffer.concat(chunks);
    const passed = await fetch(`${targetOf(url)}${url}`, {
      method,
      headers: kept.map(([name, value]): [string, string] => [name, String(value)]),
      redirect: 'manual',
      ...(body.length > 0 && { body }),
    }).catch(() => undefined);
    const back = [...(passed?.headers ?? [])].filter(
      ([name]) => !/^(?:connection|content-(?:length|encoding)|keep-alive|transfer-encoding)$/u.test(name),
    );
    response
      .writeHead(passed?.status ?? 502, Object.fromEntries(back))
      .end(Buffer.from((await passed?.arrayBuffer()) ?? new ArrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const gate: Gate = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    answer: undefined,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return gate;
}
