/** Connections of one client leave room for the others, and for its own requests. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { HttpError } from '../../src/http/server/error.ts';
import { createServer, type ServerOptions } from '../../src/http/server/server.ts';

async function serve(options: ServerOptions = {}) {
  let dropped = 0;
  const counts = { refused: () => void dropped++, unproven: () => undefined };
  const app = createServer({ counts, ...options });
  app.post('/webhook', async ({ headers }, reply) => {
    if (headers.authorization !== 'right') throw new HttpError(401, 'No.');
    return reply.code(204).send();
  });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let working = 0;
  app.get('/slow', async () => {
    working += 1;
    await held;
    return 'done';
  });
  const port = Number(new URL(await app.listen({ port: 0, host: '0.0.0.0' })).port);
  onTestFinished(async () => {
    release();
    await app.close();
  });
  return { port, release, dropped: () => dropped, working: () => working };
}

/** A connection of 127.0.0.2 that sends this and no more. */
function sender(port: number, text: string): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => socket.destroy()).resume();
  socket.write(text);
  return socket;
}

/** The status of a proven webhook from an address, 0 if the connection is closed before. */
const webhook = (port: number, localAddress: string): Promise<number> =>
  new Promise((resolve) => {
    const headers = { authorization: 'right', 'content-type': 'application/json' };
    const post = request({ port, host: '127.0.0.1', localAddress, method: 'POST', path: '/webhook', headers });
    post.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
    post.on('error', () => resolve(0)).end('{}');
  });

const HALF_SENT = 'POST /webhook HTTP/1.1\r\nHost: x\r\n';
const WRONG = 'POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';

it.each([
  ['half-sent headers', HALF_SENT],
  ['answers that wait because the secret is wrong', WRONG],
])('1,200 %s of one address block no webhook with its secret, of others or of the same', async (_what, text) => {
  const { port, dropped } = await serve();
  for (let each = 0; each < 1_200; each++) sender(port, text);
  await expect.poll(dropped, { timeout: 60_000 }).toBeGreaterThanOrEqual(950);
  const ask = async (address: string) => await Promise.all(Array.from({ length: 10 }, () => webhook(port, address)));
  expect(await ask('127.0.0.3')).toEqual(Array(10).fill(204));
  expect(await ask('127.0.0.2')).toEqual(Array(10).fill(204));
});

it('a connection at work is never closed for a new one, and a trusted proxy has no limit', async () => {
  const { port, release, working } = await serve({ clientConnectionLimit: 3 });
  const slow = [1, 2, 3].map(() => sender(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'));
  const heard = slow.map((socket) => once(socket, 'data'));
  await expect.poll(working).toBe(3);
  expect(await webhook(port, '127.0.0.2')).toBe(0);
  expect(await webhook(port, '127.0.0.3')).toBe(204);
  release();
  for (const [data] of await Promise.all(heard)) expect(String(data)).toContain('200 OK');

  const trusting = await serve({ clientConnectionLimit: 3, trustProxy: ['127.0.0.2'] });
  const many = Array.from({ length: 20 }, () => sender(trusting.port, HALF_SENT));
  await Promise.all(many.map((socket) => once(socket, 'connect')));
  expect(await webhook(trusting.port, '127.0.0.2')).toBe(204);
  expect(trusting.dropped()).toBe(0);
});
