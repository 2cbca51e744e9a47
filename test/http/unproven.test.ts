/** Clients without the secret cost little memory and few connections, and each guess costs them more time. */
import { once } from 'node:events';
import { request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpError } from '../../src/http/server/error.ts';
import { createFailureDelays } from '../../src/http/server/failure-delays.ts';
import { acceptRawJson } from '../../src/http/server/raw-body.ts';
import { createServer, type Server, type ServerOptions } from '../../src/http/server/server.ts';

const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

async function serve(options: ServerOptions = {}) {
  const refused: string[] = [];
  const unproven: string[] = [];
  const warned: object[] = [];
  const log = { error: () => {}, warn: (detail: object) => void warned.push(detail) };
  const counts = {
    refused: (what: string) => void refused.push(what),
    unproven: (route: string) => void unproven.push(route),
  };
  const app = createServer({ log, counts, ...options });
  app.register(async (scope: Server) => {
    acceptRawJson(scope);
    scope.post('/webhook', async (_request, reply) => reply.code(204).send());
  });
  app.get('/secret/:name', async (request) => {
    if (request.headers.authorization !== 'Bearer right') throw new HttpError(401, 'No.');
    return 'yes';
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  return { app, url, port: Number(new URL(url).port), refused, unproven, warned };
}

/** A connection that sends the head of a request and part of its body, and hears what comes. */
async function halfSent(port: number, length: number, sent: number): Promise<{ socket: Socket; heard: () => string }> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (data) => {
    text += data.toString();
  });
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  const head = `POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  socket.write(head + ' '.repeat(sent));
  return { socket, heard: () => text };
}

const post = (url: string, body: string | Buffer, headers: Record<string, string> = JSON_TYPE): Promise<Response> =>
  fetch(`${url}/webhook`, { method: 'POST', headers, body: typeof body === 'string' ? body : new Uint8Array(body) });

describe('before the secret is proven, bodies in flight over all connections', () => {
  it('use no more than their limit: incomplete ones are dropped, oldest first, and complete ones are served', async () => {
    const { url, port, refused } = await serve({ bodiesLimit: 4 * MIB });
    const half = await Promise.all(Array.from({ length: 40 }, () => halfSent(port, MIB, MIB / 2)));
    const isCut = ({ heard }: { heard: () => string }): boolean => heard().startsWith('HTTP/1.1 503 ');
    await expect.poll(() => refused.length, { timeout: 120_000 }).toBeGreaterThanOrEqual(32);
    expect(new Set(refused)).toEqual(new Set(['body']));
    await expect
      .poll(() => half.filter(({ socket }) => !socket.closed).length, { timeout: 120_000 })
      .toBeLessThanOrEqual(8);
    expect(half.some(isCut)).toBe(true);
    for (let each = 0; each < 20; each++) expect((await post(url, ' '.repeat(MIB / 2))).status).toBe(204);
  });

  it('free their memory when they are answered, cut, or abandoned', async () => {
    const { url, port, refused } = await serve({ bodiesLimit: MIB });
    for (let each = 0; each < 5; each++) {
      const { socket } = await halfSent(port, MIB, MIB / 2);
      socket.destroy();
      await expect.poll(() => socket.closed).toBe(true);
    }
    for (let each = 0; each < 20; each++) expect((await post(url, ' '.repeat(MIB - 1))).status).toBe(204);
    await expect.poll(async () => (await post(url, ' '.repeat(MIB - 1))).status).toBe(204);
    // What was left alone may have been in the way of the first, and of no other.
    expect(refused.length).toBeLessThanOrEqual(5);
  });
});

describe('before the secret is proven, connections', () => {
  it('stay within their limit, and are counted beyond it', async () => {
    const { url, port, refused } = await serve({ connectionLimit: 3 });
    const open = await Promise.all([1, 2, 3].map(() => halfSent(port, 10, 1)));
    const { socket } = await halfSent(port, 10, 1);
    await expect.poll(() => socket.closed).toBe(true);
    await expect.poll(() => refused).toContain('connection');
    for (const each of open) each.socket.destroy();
    await expect.poll(async () => (await post(url, '{}').catch(() => undefined))?.status).toBe(204);
  });
});

describe('brute force', () => {
  it('makes an address wait longer with each failure, and less with time', () => {
    let now = 0;
    const waitOf = createFailureDelays(() => now);
    const waits = Array.from({ length: 100 }, () => waitOf('192.0.2.1'));
    expect(waits.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 0));
    for (let each = 21; each < 100; each++) expect(waits[each]).toBeGreaterThanOrEqual(waits[each - 1] ?? 0);
    expect([waits[29], waits[99]]).toEqual([1_000, 10_000]);
    expect(waitOf('192.0.2.2')).toBe(0);
    now = 10 * 60_000;
    expect(waitOf('192.0.2.1')).toBe(0);
  });

  it('counts all addresses of one IPv6 network as one, and an IPv4 address in either spelling', () => {
    const waitOf = createFailureDelays(() => 0);
    for (let each = 1; each <= 30; each++) waitOf(`2001:db8:0:7:${each.toString(16)}::1`);
    expect(waitOf('2001:db8:0:7::9')).toBeGreaterThan(1_000);
    expect(waitOf('2001:db8::9')).toBe(0);
    for (let each = 1; each <= 30; each++) waitOf('::ffff:192.0.2.1');
    expect(waitOf('192.0.2.1')).toBeGreaterThan(1_000);
  });

  it('counts the client behind a trusted proxy, and the proxy if none is trusted', async () => {
    const guess = (url: string, client: string) =>
      fetch(`${url}/secret/x`, { headers: { 'x-forwarded-for': `198.51.100.1, ${client}` } });
    for (const trustProxy of [['127.0.0.1'], []]) {
      const { url, warned } = await serve({ trustProxy });
      await Promise.all(Array.from({ length: 21 }, () => guess(url, '203.0.113.9')));
      expect(warned).toMatchObject([{ from: trustProxy.length === 0 ? '127.0.0.1' : '203.0.113.9' }]);
      const began = performance.now();
      await Promise.all(Array.from({ length: 4 }, () => guess(url, '203.0.113.10')));
      if (trustProxy.length === 0) expect(performance.now() - began).toBeGreaterThanOrEqual(245);
    }
  });

  it('is counted by route, reported once a minute, and does not lock out clients with the secret', async () => {
    const { url, unproven, warned } = await serve();
    for (let each = 0; each < 25; each++) expect((await fetch(`${url}/secret/${each}`)).status).toBe(401);
    expect(unproven).toEqual(Array.from({ length: 25 }, () => '/secret/:name'));
    expect(warned).toHaveLength(1);
    const began = performance.now();
    const guessing = fetch(`${url}/secret/x`).then(() => performance.now() - began);
    const right = await fetch(`${url}/secret/x`, { headers: { authorization: 'Bearer right' } });
    expect(right.status).toBe(200);
    // The 26th failure waits 10 ms times 6 squared.
    expect(await guessing).toBeGreaterThanOrEqual(355);
  });
});

describe('a body over the limit', () => {
  const big = Buffer.alloc(20 * MIB, ' ');

  it('of 20 MiB gets a 413 that its sender can read, whatever the client', async () => {
    const { url } = await serve();
    for (let each = 0; each < 3; each++) {
      const answer = await post(url, big);
      expect([answer.status, await answer.json()]).toEqual([
        413,
        expect.objectContaining({ errorMessage: 'The body is larger than 1048576 bytes.' }),
      ]);
      expect(await viaHttp(url, { 'content-length': String(big.length) }, big)).toEqual([413, true]);
      expect(await viaHttp(url, { 'transfer-encoding': 'chunked' }, big)).toEqual([413, true]);
    }
  });

  /** As a client of its own: the whole body is written, then the answer is read. */
  const viaHttp = (url: string, headers: Record<string, string>, body: Buffer): Promise<[number, boolean]> =>
    new Promise((resolve, reject) => {
      const asked = send(`${url}/webhook`, { method: 'POST', headers: { ...JSON_TYPE, ...headers } }, (answer) => {
        let text = '';
        answer.on('data', (data) => {
          text += String(data);
        });
        answer.on('end', () => resolve([answer.statusCode ?? 0, text.includes('"httpStatusCode":413')]));
      });
      asked.on('error', reject);
      Readable.from([body.subarray(0, MIB * 10), body.subarray(MIB * 10)]).pipe(asked);
    });
});

it('a gzip body gets a 415 with the reason', async () => {
  const { url } = await serve();
  const answer = await post(url, gzipSync('{}'), { ...JSON_TYPE, 'content-encoding': 'gzip' });
  expect([answer.status, await answer.text()]).toEqual([415, expect.stringContaining('compressed')]);
  expect((await post(url, '{}', { ...JSON_TYPE, 'content-encoding': 'identity' })).status).toBe(204);
});

it('OPTIONS and other methods get 405 with what is allowed, even if a path has parameters, or 404', async () => {
  const { url } = await serve();
  const ask = async (method: string, path: string) => {
    const { status, headers } = await fetch(url + path, { method });
    return [status, headers.get('allow')];
  };
  for (const method of ['OPTIONS', 'PUT', 'DELETE']) {
    expect(await ask(method, '/webhook')).toEqual([405, 'POST']);
    expect(await ask(method, '/secret/of-mine')).toEqual([405, 'GET']);
    expect(await ask(method, '/secret/of-mine/more')).toEqual([404, null]);
    expect(await ask(method, '/')).toEqual([404, null]);
  }
});
