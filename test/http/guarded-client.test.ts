import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, openClient } from '../../src/http/outbound/client.ts';
import { HttpFault } from '../../src/http/outbound/fault.ts';
import { createGuard, type GuardOptions } from '../../src/http/outbound/guard.ts';
import { type RawServer, serveRaw } from '../support/sockets.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const serve = async (behave: Parameters<typeof serveRaw>[0]): Promise<RawServer> => {
  const server = await serveRaw(behave);
  open.push(server);
  return server;
};
const okay = () => serve((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));

const post = async (url: string, guard: GuardOptions = {}, options: ClientOptions = {}) => {
  const client = openClient({
    connectMs: 1_000,
    deadlineMs: 3_000,
    excerptBytes: 1_024,
    ...options,
    guard: createGuard(guard),
  });
  open.push(client);
  return client.http({ method: 'POST', url, body: '{}', signal: new AbortController().signal });
};
const faultOf = async (call: Promise<unknown>): Promise<HttpFault> => {
  const ended = await call.catch((error: unknown) => error);
  if (ended instanceof HttpFault) return ended;
  throw new Error('no HttpFault was thrown', { cause: ended });
};
/** Answers of a name server, one a look-up; the last stays. */
const answering = (...answers: readonly (readonly string[])[]) => {
  let asked = 0;
  return {
    count: () => asked,
    resolve: async () => answers[Math.min(asked++, answers.length - 1)] ?? [],
  };
};

describe('a guarded client', () => {
  it.each([
    ['127.0.0.1'],
    ['[::ffff:127.0.0.1]'],
    ['[::ffff:7f00:1]'],
    ['0x7f000001'],
    ['0x7f.1'],
    ['2130706433'],
    ['0177.0.0.1'],
    ['127.1'],
    ['0'],
    ['[::1]'],
    ['[::]'],
    ['[fe80::1]'],
    ['[fc00::1]'],
    ['169.254.169.254'],
    ['[64:ff9b::7f00:1]'],
    ['[2002:7f00:1::]'],
    ['１２７.０.０.１'],
    ['127。0。0。1'],
  ])('does not connect to %s', async (host) => {
    const server = await okay();
    for (const scheme of ['http', 'https'])
      expect((await faultOf(post(`${scheme}://${host}:${server.port}/`))).kind).toBe('address');
    expect(server.seen).toEqual([]);
  });

  it('does not connect if any address of the name is private', async () => {
    const server = await okay();
    const fault = await faultOf(post(`http://hook.example:${server.port}/`, answering(['93.184.215.14', '127.0.0.1'])));
    expect(fault.kind).toBe('address');
    expect(server.seen).toEqual([]);
  });

  it('connects to the address it checked, without another look-up', async () => {
    const server = await okay();
    const names = answering(['127.0.0.1'], ['127.0.0.2']);
    const answer = await post(`http://hook.example:${server.port}/`, { ...names, allow: ['127.0.0.1'] });
    expect(answer.status).toBe(200);
    expect(names.count()).toBe(1);
  });

  it('checks a name again for each connection', async () => {
    const server = await serve((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
    );
    const names = answering(['127.0.0.1'], ['127.0.0.2']);
    const client = openClient({ guard: createGuard({ ...names, allow: ['127.0.0.1'] }), excerptBytes: 10 });
    open.push(client);
    const ask = () =>
      client.http({ method: 'POST', url: `http://hook.example:${server.port}/`, signal: new AbortController().signal });
    expect((await ask()).status).toBe(200);
    expect((await faultOf(ask())).kind).toBe('address');
    expect(server.seen).toHaveLength(1);
  });

  it('drops a connection to another address than requested', async () => {
    const server = await okay();
    let looks = 0;
    const guard = createGuard({ allow: ['127.0.0.1'], resolve: async () => ['127.0.0.1'] });
    // Refuses the second time it is asked: of the address that the socket reports.
    const watched = { ...guard, refusal: (address: string) => (++looks > 1 ? 'elsewhere' : guard.refusal(address)) };
    const client = openClient({ guard: watched, excerptBytes: 10 });
    open.push(client);
    const url = `http://hook.example:${server.port}/`;
    expect((await faultOf(client.http({ method: 'POST', url, signal: new AbortController().signal }))).kind).toBe(
      'address',
    );
    expect(server.seen).toEqual([]);
  });

  it('reaches an origin that it trusts, and no other port of its host', async () => {
    const own = await okay();
    const other = await okay();
    const guard = { allowOrigins: [own.url] };
    expect((await post(`${own.url}/webhook`, guard)).status).toBe(200);
    expect((await faultOf(post(`${other.url}/webhook`, guard))).kind).toBe('address');
  });

  it('names the failure: no such host, nobody listens, no connection in time', async () => {
    const gone = await okay();
    await gone.close();
    const named = (resolve: GuardOptions['resolve'], options: ClientOptions = {}) =>
      faultOf(post(`http://hook.example:${gone.port}/`, { allowPrivate: true, ...(resolve && { resolve }) }, options));
    expect((await named(() => Promise.reject(new Error('ESERVFAIL')))).kind).toBe('dns');
    expect((await named(async () => [])).kind).toBe('dns');
    expect((await named(async () => ['127.0.0.1'])).kind).toBe('refused');
    const began = performance.now();
    expect((await named(() => new Promise(() => {}), { connectMs: 300 })).kind).toBe('timeout');
    expect(performance.now() - began).toBeLessThan(2_500);
  });

  it('never shows the address behind a name', async () => {
    const fault = await faultOf(post('http://hook.example/', { resolve: async () => ['10.20.30.40'] }));
    expect(`${fault.message} ${fault.stack}`).not.toContain('10.20.30.40');
  });
});

describe('an answer of which only the status matters', () => {
  const allowed = { allowPrivate: true };

  it('is cut if it is long, and its connection is dropped', async () => {
    let dropped = false;
    const server = await serve((socket) => {
      socket.on('close', () => {
        dropped = true;
      });
      socket.write(`HTTP/1.1 500 No\r\nContent-Length: ${10 * 1024 ** 3}\r\n\r\n`);
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      };
      socket.on('drain', more);
      more();
    });
    const answer = await post(server.url, allowed);
    expect(answer.status).toBe(500);
    expect(answer.body).toBe('x'.repeat(1_024));
    await expect.poll(() => dropped).toBe(true);
  });

  it('is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    expect(await post(server.url, allowed)).toMatchObject({ status: 200, body: '' });
  });

  it('counts even if its body breaks off or never ends', async () => {
    const broken = await serve((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'));
    expect(await post(broken.url, allowed)).toMatchObject({ status: 200, body: 'half' });
    const slow = await serve((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nslow'));
    expect(await post(slow.url, allowed, { deadlineMs: 300 })).toMatchObject({ status: 200, body: 'slow' });
  });

  it('follows answers of 100 Continue, however they are cut, on a kept connection', async () => {
    const CONTINUE = 'HTTP/1.1 100 Continue\r\nX-Why: none\r\n\r\n';
    const text = `${CONTINUE}HTTP/1.0 100\r\n\r\n${CONTINUE}HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\nHTTP/1.1 100 inside`;
    let connections = 0;
    const server = await serve((socket, first) => {
      connections += 1;
      const answer = async (request: Buffer | string) => {
        const parts = request.toString().startsWith('POST /bytes') ? text : [text];
        for (const part of parts) await new Promise((done) => socket.write(part, done));
      };
      socket.on('data', answer);
      void answer(first);
    });
    const client = openClient({ guard: createGuard(allowed), excerptBytes: 1_024 });
    open.push(client);
    for (const path of ['whole', 'whole', 'bytes', 'whole', 'bytes', 'whole']) {
      const signal = new AbortController().signal;
      const answer = await client.http({ method: 'POST', url: `${server.url}/${path}`, body: '{}', signal });
      expect(answer).toMatchObject({ status: 200, body: 'HTTP/1.1 100 inside' });
    }
    // The pool may open a second one before it knows that the first is free.
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('times out if nothing follows an answer of 100 Continue', async () => {
    const server = await serve((socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'));
    expect((await faultOf(post(server.url, allowed, { deadlineMs: 200 }))).kind).toBe('timeout');
    const closed = await serve((socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 10'));
    expect((await faultOf(post(closed.url, allowed))).kind).toBe('cut');
  });

  it.each([
    [
      'Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n',
      "Content-Length can't be present with Transfer-Encoding",
    ],
    ['Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n', 'Response body length does not match'],
    ['Content-Length: 2\r\nContent-Length: 3\r\n\r\n', 'Response body length does not match'],
    ['Content-Length: two\r\n\r\n', 'Invalid character in Content-Length'],
    ['Some Header: 1\r\n\r\n', 'Invalid header token'],
    ['X-Secret: sesame\0\r\n\r\n', 'Invalid header value char'],
  ])('that breaks the rules of HTTP fails with the reason: %j', async (rest, reason) => {
    const server = await serve((socket) => socket.write(`HTTP/1.1 200 OK\r\n${rest}`));
    const { message } = await faultOf(post(server.url, allowed));
    expect(message).toContain(reason);
    expect(message).not.toMatch(/no code|sesame|undefined/);
  });

  it.each([
    ['220 mail ready\r\n', 'not valid HTTP (Response does not match the HTTP/1.1 protocol (Expected HTTP/'],
    ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'not valid HTTP (bad upgrade)'],
  ])('that is not HTTP fails with the reason: %j', async (text, reason) => {
    const server = await serve((socket) => socket.write(text));
    expect((await faultOf(post(server.url, allowed))).message).toContain(reason);
  });

  it('can be a redirect, which is not followed', async () => {
    const target = await okay();
    const server = await serve((socket) =>
      socket.write(`HTTP/1.1 307 Elsewhere\r\nLocation: ${target.url}/\r\nContent-Length: 0\r\n\r\n`),
    );
    expect((await post(server.url, allowed)).status).toBe(307);
    expect(target.seen).toEqual([]);
  });
});
