import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openClient } from '../../../src/http/outbound/client.ts';
import { fetchDocument } from '../../../src/service/reports/fetch.ts';
import { served } from './hosts.ts';

const NEVER = new AbortController().signal;
const TEXT = Buffer.from('<xbrl/>');

async function fetching(
  listener: RequestListener,
  more: { readonly hosts?: readonly string[]; readonly path?: string; readonly maxBytes?: number } = {},
) {
  const server = await served(listener);
  const client = openClient();
  onTestFinished(() => client.close());
  const { hosts = ['127.0.0.1'], path = '/1.xml', maxBytes = 10_000 } = more;
  const url = path.startsWith('http') ? path.replace('PORT', new URL(server.url).port) : server.url + path;
  const fetched = await fetchDocument({ http: client.http, hosts, maxBytes }, url, NEVER);
  return { fetched, calls: server.calls };
}

describe('a document', () => {
  it.each([
    ['plain', TEXT, {}],
    ['packed, and saying so', gzipSync(TEXT), { 'content-encoding': 'gzip' }],
    ['packed, and not saying so', gzipSync(TEXT), {}],
    ['packed twice', gzipSync(gzipSync(TEXT)), { 'content-encoding': 'gzip' }],
  ])('%s is decompressed', async (_, body, headers) => {
    const { fetched } = await fetching((_request, response) => response.writeHead(200, headers).end(body));
    expect(fetched).toEqual({ kind: 'bytes', bytes: TEXT });
  });

  it.each([
    [404, 'later'],
    [429, 'later'],
    [503, 'later'],
    [403, 'unreadable'],
    [410, 'unreadable'],
    [204, 'unreadable'],
  ])('answered with %d is %s', async (status, kind) => {
    const { fetched } = await fetching((_, response) => response.writeHead(status).end());
    expect(fetched).toEqual({ kind, reason: expect.stringContaining(`answered with ${status}`) });
  });

  it('that is cut, or wrongly compressed, is requested again later', async () => {
    const cut = await fetching((_, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('<xbrl');
      setImmediate(() => response.destroy());
    });
    const torn = await fetching((_, response) =>
      response.writeHead(200).end(gzipSync(Buffer.alloc(5_000, 'abc')).subarray(0, 30)),
    );
    expect([cut.fetched.kind, torn.fetched.kind]).toEqual(['later', 'later']);
  });

  it('of two gigabytes is not read to its end', async () => {
    let sent = 0;
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    const { fetched } = await fetching(
      (_, response) => {
        const more = () => {
          while (sent < 2_000 && !response.destroyed) {
            sent += 1;
            if (!response.write(megabyte)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      },
      { maxBytes: 3 * 1024 * 1024 },
    );
    expect(fetched).toEqual({ kind: 'unreadable', reason: expect.stringContaining('more than') });
    expect(sent).toBeLessThan(200);
  });

  it('that decompresses beyond the limit is refused, wherever it was compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    for (const headers of [{ 'content-encoding': 'gzip' }, {}]) {
      const { fetched } = await fetching((_, response) => response.writeHead(200, headers).end(bomb), {
        maxBytes: 1024 * 1024,
      });
      expect(fetched.kind).toBe('unreadable');
    }
  });
});

describe('the host of a document', () => {
  it.each([
    'http://reports.example:PORT/1.xml',
    'http://evillocalhost:PORT/1.xml',
    'http://localhost.example:PORT/1.xml',
    'http://virk.dk@127.0.0.1:PORT/1.xml',
    'http://user:secret@localhost:PORT/1.xml',
    'ftp://localhost/1.xml',
    'file:///etc/passwd',
    'gopher',
    '',
  ])('%s is not called', async (path) => {
    const { fetched, calls } = await fetching((_, response) => response.end('x'), {
      hosts: ['virk.dk', 'localhost'],
      path: path || 'http:',
    });
    expect(fetched).toEqual({ kind: 'unreadable', reason: expect.stringContaining('not a configured host') });
    expect(calls).toEqual([]);
  });

  it('may be a sub-domain, in any case and with a dot at its end', async () => {
    for (const host of ['localhost', 'LOCALHOST', 'a.localhost', 'localhost.']) {
      const { fetched } = await fetching((_, response) => response.end(TEXT), {
        hosts: ['LocalHost'],
        path: `http://${host}:PORT/1.xml`,
      });
      expect(fetched.kind === 'bytes' || (fetched.kind === 'later' && /no such host/.test(fetched.reason)), host).toBe(
        true,
      );
    }
  });

  it('may redirect to itself, and not elsewhere', async () => {
    const to =
      (location: (port: string) => string): RequestListener =>
      (request, response) => {
        if (request.url !== '/1.xml') return void response.end(TEXT);
        response.writeHead(302, { location: location(String(request.socket.localPort)) }).end();
      };
    expect((await fetching(to(() => '/2.xml'))).fetched.kind).toBe('bytes');
    const elsewhere = await fetching(to((port) => `http://localhost:${port}/2.xml`));
    expect(elsewhere.fetched).toEqual({
      kind: 'unreadable',
      reason: expect.stringMatching(/localhost.*not a configured host/),
    });
    expect(elsewhere.calls).toEqual(['/1.xml']);
    const circle = await fetching(to(() => '/1.xml'));
    expect(circle.fetched).toEqual({ kind: 'unreadable', reason: 'the document is redirected too often' });
    expect(circle.calls).toHaveLength(4);
  });
});
