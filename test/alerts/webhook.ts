/** A receiver of alerts for tests. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

/** A webhook that keeps what it is posted; `status` is what it answers. */
export async function webhook() {
  const texts: string[] = [];
  const state = { status: 200, location: '' };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === 'POST' && state.status < 300) texts.push(JSON.parse(Buffer.concat(chunks).toString()).text);
    response.writeHead(state.status, state.location === '' ? {} : { location: state.location }).end('ok');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { texts, state, close, url: `http://127.0.0.1:${port}/services/T0/B0/a-secret-path` };
}
