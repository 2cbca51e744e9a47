/** The fence around jsforce prevents errors of its own transport. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as client from 'jsforce/lib/util/promise.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Http, HttpResponse, ProviderContext } from '../../../providers/provider.ts';
import { SalesforceRefusal } from '../../../providers/salesforce/client/errors.ts';
import { guardedTransport } from '../../../providers/salesforce/client/transport.ts';
import { live, openBench } from './setup.ts';

const answering = (response: HttpResponse): Pick<ProviderContext, 'http' | 'now'> => ({
  http: async () => response,
  now: () => 0,
});
const asked = { method: 'PATCH' as const, url: 'https://org.my.salesforce.com/x', body: '{}' };

describe('the fence around jsforce', () => {
  it.each([301, 302, 303, 307, 308])('treats no status %i as an answer, even if the Http passes it', async (status) => {
    const html = {
      status,
      headers: { location: 'https://status.example/', 'content-type': 'text/html' },
      body: '<html></html>',
    };
    const transport = guardedTransport(client, answering(html), live());
    await expect(transport.httpRequest(asked)).rejects.toMatchObject({ fault: 'unavailable' });
  });

  it.each([200, 204, 300, 304])('passes a status %i', async (status) => {
    const transport = guardedTransport(client, answering({ status, headers: {}, body: '' }), live());
    expect(await transport.httpRequest(asked)).toMatchObject({ statusCode: status });
  });

  it('keeps the status of a refusal, which jsforce drops', async () => {
    const body = JSON.stringify([
      { message: 'm', errorCode: 'A' },
      { message: 'n', errorCode: 'B', fields: ['F'] },
    ]);
    const transport = guardedTransport(client, answering({ status: 400, headers: {}, body }), live());
    const error = await transport.httpRequest(asked).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(SalesforceRefusal);
    expect(error).toMatchObject({ status: 400, errors: [{ code: 'A' }, { code: 'B', fields: ['F'] }] });
  });

  it('never counts a redirected write as written, and sends the token nowhere else', async () => {
    const seen: string[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '');
      response.end('<html>maintenance</html>');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void elsewhere.close());
    await new Promise((resolve) => elsewhere.once('listening', resolve));
    const { port } = elsewhere.address() as AddressInfo; // a server on a port has no other kind of address
    const { emulator, connection } = await openBench();
    const id = emulator.add({ Name: 'Birk ApS' });
    for (const location of [`http://127.0.0.1:${port}/maintenance`, '/maintenance']) {
      emulator.fault({
        match: 'POST .*/composite$',
        action: { kind: 'status', status: 302, headers: { location }, body: '<html></html>' },
      });
      const work = connection.update([{ id, properties: { Phone: '1' } }], live());
      await expect(work).rejects.toMatchObject({ fault: 'unavailable' });
    }
    expect(seen).toEqual([]);
    expect(emulator.get(id)).toMatchObject({ Phone: null });
  });

  it('ends a call whose body stalls after the headers', async () => {
    const bench = await openBench();
    const stalling = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"fields":[');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      stalling.close();
      stalling.closeAllConnections();
    });
    await new Promise((resolve) => stalling.once('listening', resolve));
    const { port } = stalling.address() as AddressInfo; // as above
    const http: Http = (request) =>
      bench.http(
        request.url.includes('/describe') ? { ...request, url: `http://127.0.0.1:${port}/`, timeoutMs: 200 } : request,
      );
    const connection = await bench.connect({}, http);
    await expect(connection.properties(live())).rejects.toMatchObject({ fault: 'unavailable' });
    expect((await bench.connection.properties(live())).length).toBeGreaterThan(20);
  });

  it('separates the signals of verbs that run together', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ Name: 'Birk ApS' });
    await connection.properties(live());
    emulator.fault({ match: 'POST .*composite', action: { kind: 'slow', ms: 50 }, times: 2 });
    const stop = new AbortController();
    const stopped = connection.read([id], ['Name'], stop.signal);
    const other = connection.read([id], ['Name'], live());
    stop.abort(new Error('stopping'));
    await expect(stopped).rejects.toThrow('stopping');
    expect((await other)[0]?.kind).toBe('found');
  });

  it('sends the version of the API that is configured', async () => {
    const { connection, requests } = await openBench({}, { apiVersion: '66.0' });
    await connection.properties(live());
    expect(requests.at(-1)?.url).toContain('/services/data/v66.0/sobjects/Account/describe');
  });
});
