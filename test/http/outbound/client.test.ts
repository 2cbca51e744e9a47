import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ClientOptions,
  type HttpClient,
  type OutboundRequest,
  openClient,
} from '../../../src/http/outbound/client.ts';
import { HttpFault } from '../../../src/http/outbound/fault.ts';
import { type RawServer, serveRaw } from '../../support/sockets.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const serve = async (behave: (socket: Socket, first: string) => void): Promise<RawServer> => {
  const server = await serveRaw(behave);
  open.push(server);
  return server;
};
const client = (options: ClientOptions = {}): HttpClient => {
  const opened = openClient(options);
  open.push(opened);
  return opened;
};
const ask = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url,
  signal: new AbortController().signal,
  ...more,
});
const faultOf = async (call: Promise<unknown>): Promise<HttpFault> => {
  const ended = await call.catch((error: unknown) => error);
  if (ended instanceof HttpFault) return ended;
  throw new Error('no HttpFault was thrown', { cause: ended });
};
const closing = (socket: Socket): Promise<void> => new Promise((resolve) => socket.on('close', () => resolve()));
const answer = (body: string, ...headers: readonly string[]): string =>
  ['HTTP/1.1 200 OK', `Content-Length: ${Buffer.byteLength(body)}`, ...headers, '', body].join('\r\n');

describe('an answer', () => {
  it('has its status, lower-cased joined headers and text', async () => {
    const server = await serve((socket) =>
      socket.write(answer('blåbær', 'X-Part: a', 'X-Part: b', 'Content-Type: Text/Plain')),
    );
    const got = await client().http(
      ask(`${server.url}/x?y=1`, { method: 'POST', body: '{}', headers: { 'X-Own': 'one' } }),
    );
    expect(got).toEqual({
      status: 200,
      body: 'blåbær',
      headers: expect.objectContaining({ 'x-part': 'a, b', 'content-type': 'Text/Plain' }),
    });
    expect(server.seen[0]).toMatch(/^POST \/x\?y=1 HTTP\/1\.1\r\n/);
    expect(server.seen[0]).toMatch(/x-own: one\r\n/i);
    expect(server.seen[0]).not.toMatch(/accept-encoding/i);
  });

  it('of any other status is an answer too', async () => {
    const server = await serve((socket) =>
      socket.write('HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n'),
    );
    expect(await client().http(ask(server.url))).toMatchObject({
      status: 503,
      headers: { 'retry-after': '3' },
      body: '',
    });
  });

  it('after informational ones is read', async () => {
    const server = await serve((socket) =>
      socket.write(`${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(20)}${answer('late')}`),
    );
    expect((await client().http(ask(server.url))).body).toBe('late');
  });

  it('after a 100 Continue is read, with and without a proxy for other hosts', async () => {
    const server = await serve((socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${answer('late')}`));
    expect((await client().http(ask(server.url))).body).toBe('late');
    const { http } = client({ env: { HTTP_PROXY: 'http://127.0.0.1:1' } });
    expect((await http(ask(server.url))).body).toBe('late');
  });

  it('that is compressed without a request is read, within the cap', async () => {
    const packed = gzipSync('x'.repeat(5_000));
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`);
      socket.write(packed);
    });
    expect((await client().http(ask(server.url))).body).toHaveLength(5_000);
    expect((await faultOf(client({ maxBytes: 4_999 }).http(ask(server.url)))).kind).toBe('too-large');
  });

  it('comes as bytes if bytes are requested, within a cap of its own', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x3c, 0x00]);
    const packed = gzipSync(bytes);
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`);
      socket.write(packed);
    });
    const { http } = client();
    expect(await http(ask(server.url, { wantBytes: true }))).toMatchObject({ status: 200, body: '', bytes });
    // The server answers once a connection.
    const another = client().http;
    expect((await faultOf(another(ask(server.url, { wantBytes: true, maxBytes: 3 })))).kind).toBe('too-large');
  });

  it('that is a redirect is shown on request', async () => {
    const server = await serve((socket) =>
      socket.write('HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n'),
    );
    const { http } = client();
    const got = await http(ask(server.url, { showRedirects: true }));
    expect(got).toMatchObject({ status: 302, headers: { location: 'http://elsewhere.example/' } });
    const another = client().http;
    expect((await faultOf(another(ask(server.url)))).kind).toBe('redirect');
  });

  it('reaches a slow reader completely, in pieces, with a deadline that counts from the last piece', async () => {
    const piece = Buffer.alloc(200_000, 'blåbær');
    const count = 40;
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      for (let at = 0; at < count; at++) {
        socket.write(`${piece.length.toString(16)}\r\n`);
        socket.write(piece);
        socket.write('\r\n');
      }
      socket.write('0\r\n\r\n');
    });
    const sum = createHash('md5');
    let pieces = 0;
    const got = await client().http(
      ask(server.url, {
        timeoutMs: 5_000,
        async onChunk(chunk, status) {
          expect(status).toBe(200);
          sum.update(chunk);
          pieces += 1;
          await new Promise((resolve) => setImmediate(resolve));
        },
      }),
    );
    expect(got).toMatchObject({ status: 200, body: '' });
    expect(pieces).toBeGreaterThan(10);
    const expected = createHash('md5');
    for (let at = 0; at < count; at++) expected.update(piece);
    expect(sum.digest('hex')).toBe(expected.digest('hex'));
  });

  it('leaves its connection for the next call', async () => {
    let connections = 0;
    const server = await serve((socket) => {
      connections += 1;
      socket.write(answer('1'));
      socket.on('data', () => socket.write(answer('more')));
    });
    const { http } = client();
    for (let i = 0; i < 20; i++) await http(ask(server.url));
    // The pool may open a second one before it knows that the first is free.
    expect(connections).toBeLessThanOrEqual(2);
  });
});

describe('a call fails', () => {
  it('as refused if nobody listens', async () => {
    const server = await serveRaw(() => undefined);
    await server.close();
    expect((await faultOf(client().http(ask(server.url)))).kind).toBe('refused');
  });

  it('as dns if there is no such host', async () => {
    expect((await faultOf(client().http(ask('http://nonexistent.invalid/')))).kind).toBe('dns');
  });

  it('as tls if the connection cannot be trusted', async () => {
    const server = await serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect((await faultOf(client().http(ask(server.url.replace('http:', 'https:'))))).kind).toBe('tls');
  });

  it.each([
    ['before the answer', ''],
    ['within the headers', 'HTTP/1.1 200 OK\r\nContent-'],
    ['within the body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
    ['within a chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf'],
  ])('as cut if the connection ends %s', async (_where, text) => {
    for (const end of [
      (socket: Socket) => socket.end(text),
      (socket: Socket) => socket.write(text, () => socket.resetAndDestroy()),
    ]) {
      const server = await serve(end);
      expect((await faultOf(client().http(ask(server.url)))).kind).toBe('cut');
    }
  });

  it.each([
    ['nothing comes', ''],
    ['only informational answers come', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['the body stops', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
  ])('as timeout if %s, and the connection is dropped', async (_what, text) => {
    let dropped: Promise<unknown> = Promise.resolve();
    const server = await serve((socket) => {
      dropped = closing(socket);
      socket.write(text || ' '.slice(1));
    });
    const fault = await faultOf(client({ deadlineMs: 10_000 }).http(ask(server.url, { timeoutMs: 100 })));
    expect([fault.kind, fault.message]).toEqual(['timeout', expect.stringContaining('100 ms')]);
    await dropped;
  });

  it('as timeout if a body drips, because the deadline covers the whole call', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const drip = setInterval(() => socket.write('1\r\nx\r\n'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    expect((await faultOf(client({ deadlineMs: 200 }).http(ask(server.url)))).kind).toBe('timeout');
  });

  it('as too large if the body never ends, and the connection is dropped', async () => {
    let dropped: Promise<unknown> = Promise.resolve();
    const server = await serve((socket) => {
      dropped = closing(socket);
      const block = `400\r\n${'x'.repeat(1024)}\r\n`;
      const pour = () => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on('drain', pour);
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      pour();
    });
    expect((await faultOf(client({ maxBytes: 100_000 }).http(ask(server.url)))).kind).toBe('too-large');
    await dropped;
  });

  it.each([301, 302, 303, 307, 308])('as redirect on %i, and the redirect is not followed', async (status) => {
    const elsewhere = await serve((socket) => socket.write(answer('caught')));
    const server = await serve((socket) =>
      socket.write(`HTTP/1.1 ${status} Moved\r\nLocation: ${elsewhere.url}/\r\nContent-Length: 5\r\n\r\nthere`),
    );
    const fault = await faultOf(client().http(ask(server.url, { headers: { authorization: 'Bearer sesame' } })));
    expect([fault.kind, elsewhere.seen]).toEqual(['redirect', []]);
    expect(fault.message).toContain(`a redirect (${status}) to ${elsewhere.url}/, which is never followed`);
  });

  it('as aborted when the caller stops it, with the reason as its cause', async () => {
    const stop = new AbortController();
    const server = await serve(() => stop.abort(new Error('shutting down')));
    const fault = await faultOf(client().http(ask(server.url, { signal: stop.signal })));
    expect([fault.kind, fault.cause]).toEqual(['aborted', new Error('shutting down')]);
    expect((await faultOf(client().http(ask(server.url, { signal: stop.signal })))).kind).toBe('aborted');
    expect(server.seen).toHaveLength(1);
  });

  it('as network if the answer is not HTTP or the address is invalid', async () => {
    const server = await serve((socket) => socket.end('220 mail ready\r\n'));
    expect((await faultOf(client().http(ask(server.url)))).kind).toBe('network');
    expect((await faultOf(client().http(ask('crm.example?key=sesame')))).kind).toBe('network');
  });

  it('without a secret in any error text', async () => {
    const server = await serve((socket) => socket.destroy());
    const secret = { headers: { authorization: 'Bearer sesame' }, body: 'sesame' };
    for (const url of [server.url.replace('//', '//user:sesame@'), 'http://nonexistent.invalid', 'no url']) {
      const fault = await faultOf(client().http(ask(`${url}/a?accesskey=sesame`, { method: 'POST', ...secret })));
      const told = [fault.message, fault.stack, String(fault.cause), JSON.stringify(fault)].join();
      expect(told).not.toContain('sesame');
    }
  });
});

describe('a proxy', () => {
  it('from the environment gets calls to other hosts, never those to loopback or to excluded hosts', async () => {
    const direct = await serve((socket) => socket.write(answer('direct')));
    const proxy = await serve((socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    const { http } = client({ env: { HTTP_PROXY: proxy.url, NO_PROXY: 'inside.invalid' } });
    expect((await http(ask(direct.url))).body).toBe('direct');
    expect((await faultOf(http(ask('http://inside.invalid/')))).kind).toBe('dns');
    expect(proxy.seen).toEqual([]);
    await http(ask('http://outside.invalid/')).catch(() => undefined);
    expect(proxy.seen).toHaveLength(1);
  });
});
