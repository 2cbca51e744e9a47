import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createServer } from '../../src/http/server/server.ts';

async function serving() {
  const app = createServer();
  app.post('/slow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return 'ended';
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { app, url };
}

it('a server closes even if a client withholds the rest of a request', async () => {
  const { app, url } = await serving();
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  const asked = once(app.server, 'request');
  socket.write('POST /slow HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n[');
  await asked;
  const began = performance.now();
  await app.close();
  expect(performance.now() - began).toBeLessThan(8_000);
});

it('a server answers requests under way before it closes', async () => {
  const { app, url } = await serving();
  const asked = once(app.server, 'request');
  const answer = fetch(`${url}/slow`, { method: 'POST' });
  await asked;
  const began = performance.now();
  await app.close();
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(await (await answer).text()).toBe('ended');
});
