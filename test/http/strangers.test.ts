import { once } from 'node:events';
import { request as send } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptRawJson } from '../../src/http/server/raw-body.ts';
import { createServer, type Server } from '../../src/http/server/server.ts';
import { converse } from '../support/sockets.ts';

const LIMIT = 1000;
const bodies: string[] = [];
let app: Server;
let port = 0;

beforeAll(async () => {
  app = createServer({ bodyLimit: LIMIT, requestTimeout: 600 });
  app.register(async (scope: Server) => {
    acceptRawJson(scope);
    scope.post('/webhook', async (request, reply) => {
      bodies.push(Buffer.isBuffer(request.body) ? request.body.toString('latin1') : 'none');
      return reply.code(204).send();
    });
  });
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
});
afterAll(() => app.close());

const head = (...lines: readonly string[]): string =>
  ['POST /webhook HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const statuses = (heard: string): string[] => [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1] ?? '');
const taken = async (heard: Promise<string>): Promise<string[]> => {
  const before = bodies.length;
  await heard;
  return bodies.slice(before);
};

describe('a body', () => {
  it('reaches the webhook route byte for byte, even if it is not JSON', async () => {
    const text = '{"a": 1,  bad \xff';
    const answer = await fetch(`http://127.0.0.1:${port}/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: Buffer.from(text, 'latin1'),
    });
    expect(answer.status).toBe(204);
    expect(bodies.at(-1)).toBe(text);
  });

  it('of another content type, or of none, is refused', async () => {
    for (const type of ['Content-Type: text/plain', 'X-Nothing: here']) {
      const text = head('Content-Length: 2', 'Connection: close').replace('Content-Type: application/json', type);
      expect(statuses(await converse(port, `${text}{}`))).toEqual(['415']);
    }
  });

  it('over the limit by its Content-Length is refused, and its connection closed in time without a second answer', async () => {
    const heard = await converse(port, head(`Content-Length: ${LIMIT + 1}`));
    expect(statuses(heard)).toEqual(['413']);
    expect(heard).toContain('"httpStatusCode":413');
  });

  it('that is chunked is counted while it streams, and cut at the limit', async () => {
    const heard = await converse(port, head('Transfer-Encoding: chunked'), chunk('x'.repeat(LIMIT)), chunk('y'));
    expect(statuses(heard)).toEqual(['413']);
  });

  it('that is chunked and just within the limit is read completely', async () => {
    const wire = [head('Transfer-Encoding: chunked', 'Connection: close'), chunk('x'.repeat(LIMIT)), '0\r\n\r\n'];
    expect(await taken(converse(port, ...wire))).toEqual(['x'.repeat(LIMIT)]);
  });

  it('that stops short never reaches the route', async () => {
    const heard = converse(port, head('Content-Length: 100'), '{"half":');
    expect(await taken(heard)).toEqual([]);
    expect(statuses(await heard)).toEqual(['408']);
  });

  it('after Expect: 100-continue is accepted', async () => {
    const before = bodies.length;
    const status = await new Promise<number>((resolve, reject) => {
      const request = send({
        port,
        path: '/webhook',
        method: 'POST',
        headers: { expect: '100-continue', 'content-type': 'application/json', 'content-length': 2 },
      });
      request.on('continue', () => request.end('{}'));
      request.on('response', (response) => resolve(response.resume().statusCode ?? 0));
      request.on('error', reject);
      request.flushHeaders();
    });
    expect([status, bodies.slice(before)]).toEqual([204, ['{}']]);
  });
});

describe('a connection', () => {
  it('whose last request was answered before its body arrived gets the error of the next one', async () => {
    const text = head('Content-Length: 2').replace('application/json', 'text/plain');
    const socket = connect(port, '127.0.0.1');
    socket.write(`${text}{}`);
    const [first] = await once(socket, 'data');
    socket.write(head(`X-Long: ${'x'.repeat(17_000)}`));
    const [second] = await once(socket, 'data');
    socket.destroy();
    expect(statuses(`${first}${second}`)).toEqual(['415', '431']);
  });

  it('that sends nothing is closed', async () => {
    expect(statuses(await converse(port))).toEqual(['408']);
  });

  it('whose headers drip is closed, however steadily they arrive', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => socket.destroy());
    const drip = setInterval(() => socket.write('X-Slow: a\r\n'), 50);
    socket.write('POST /webhook HTTP/1.1\r\nHost: localhost\r\n');
    let heard = '';
    socket.on('data', (data) => {
      heard += data.toString();
    });
    await once(socket, 'close');
    clearInterval(drip);
    expect(statuses(heard)).toEqual(['408']);
  });

  it('with headers over 16 KB is refused', async () => {
    const heard = await converse(port, head(`X-Long: ${'x'.repeat(17_000)}`));
    expect(statuses(heard)).toEqual(['431']);
    expect(heard).toContain('"errorCode":431');
  });

  it('that does not speak HTTP gets an error and is closed', async () => {
    const heard = await converse(port, 'hello there\r\n\r\n');
    expect(statuses(heard)).toEqual(['400']);
    expect(heard).toContain('"httpStatusCode":400');
  });

  it('that pipelines gets its answers in order', async () => {
    const one = `${head('Content-Length: 3')}"a"`;
    const two = 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const three = `${head('Content-Length: 3', 'Connection: close')}"b"`;
    const heard = converse(port, one + two + three);
    expect(await taken(heard)).toEqual(['"a"', '"b"']);
    expect(statuses(await heard)).toEqual(['204', '404', '204']);
  });

  it('with two different lengths, or a length and chunks, is refused, because it could smuggle a request', async () => {
    for (const lines of [
      ['Content-Length: 2', 'Content-Length: 3'],
      ['Content-Length: 2', 'Transfer-Encoding: chunked'],
    ])
      expect(statuses(await converse(port, `${head(...lines)}{}`))).toEqual(['400']);
  });

  it('of HTTP/1.0 is served and closed', async () => {
    const heard = await converse(port, 'GET /nothing HTTP/1.0\r\n\r\n');
    expect(statuses(heard)).toEqual(['404']);
  });
});
