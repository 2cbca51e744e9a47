/** The key of Datafordeler is part of addresses. Whatever fails, it is in no log, metric, trace or table. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { serveDatafordeler } from '../../../../../src/commands/emulate/datafordeler/datafordeler.ts';
import { createMetrics } from '../../../../../src/http/metrics.ts';
import { openClient } from '../../../../../src/http/outbound/client.ts';
import { claim } from '../../../../../src/runtime/lanes/lanes.ts';
import { createDatafordelerSource } from '../../../../../src/service/register/source/datafordeler/feed/datafordeler.ts';
import { createFilesSource } from '../../../../../src/service/register/source/datafordeler/files/files-source.ts';
import { fetchMissing, requestCompany } from '../../../../../src/service/register/watch/fetch-missing.ts';
import { openTelemetry } from '../../../../../src/telemetry/open-telemetry.ts';
import { traceWith } from '../../../../../src/telemetry/trace.ts';
import { newFolder, newStoreUrl, opened } from '../../../../support/stores.ts';
import { openCollector } from '../../../../telemetry/collector.ts';
import { everyone } from '../../daf-fixture.ts';
import { setWatch } from '../../watch-fixture.ts';

const HOUR = 3_600_000;
const KEY = 'q7-very/secret+key';

type Fault = (res: ServerResponse, asked: string, address: string) => void;

const status =
  (code: number): Fault =>
  (res, asked) =>
    void res.writeHead(code).end(asked);

/** What goes wrong with a request; most answers repeat all that was asked. */
const FAULTS: Readonly<Record<string, Fault>> = {
  ...Object.fromEntries([400, 401, 404, 429, 500, 503].map((code) => [`status ${code}`, status(code)])),
  'an error of GraphQL': (res, asked) => void res.end(JSON.stringify({ errors: [{ message: asked }] })),
  'another error of GraphQL': (res, asked) =>
    void res.end(JSON.stringify({ errors: [{ message: 'no', extensions: { code: asked } }] })),
  'no JSON': (res, asked) => void res.end(asked),
  'a redirect': (res, _, address) => void res.writeHead(302, { location: address }).end(),
  'a broken transfer': (res, asked) =>
    void res.writeHead(200, { 'content-length': 9_000 }).write(asked, () => res.destroy()),
  'a reset': (res) => void res.destroy(),
  'a time-out': () => {},
  // The last one: a load goes on without a file that is refused.
  'status 403': status(403),
};

async function openFaulty() {
  let fault = '';
  const server = createServer(async (req: IncomingMessage, res) => {
    const address = `http://${req.headers.host}${req.url}`;
    const asked = `${address} ${req.headers.authorization} ${await text(req)}`;
    FAULTS[fault]?.(res, asked, address);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next(name: string) {
      fault = name;
    },
  };
}

test.each(['a key', 'a client'] as const)('the secret of %s appears nowhere', async (access) => {
  const collector = await openCollector();
  const metrics = createMetrics();
  const settings = { endpoint: collector.endpoint, headers: {}, sampleRatio: 1, metricsSeconds: 0 };
  const info = { version: '1.0.0', daemon: 'a', registry: metrics.registry, log: { warn: () => {} } };
  const telemetry = openTelemetry(settings, info);
  traceWith(telemetry.tracing);
  onTestFinished(() => traceWith(undefined));
  const log: string[] = [];
  const url = await newStoreUrl('sqlite');
  const store = await opened(url);
  const faulty = await openFaulty();
  const client = openClient();
  onTestFinished(client.close);
  /** The next request to an address with this in it goes to the faulty server. */
  let struck: string | undefined;
  const http: typeof client.http = (request) => {
    if (struck === undefined || !request.url.includes(struck)) return client.http(request);
    const { pathname, search } = new URL(request.url);
    struck = undefined;
    return client.http({ ...request, url: `${faulty.url}${pathname}${search}`, timeoutMs: 300 });
  };
  const watch = await setWatch(store, {
    metrics,
    log: pino({ level: 'trace' }, { write: (line: string) => void log.push(line) }),
    async sources(now) {
      const emulator = await serveDatafordeler({ companies: 3, apiKey: KEY, slowMs: 0, now });
      onTestFinished(() => emulator.close());
      const { oauth, tokenUrl } = emulator;
      const { apiKey: _, ...place } = emulator.settings;
      const own = access === 'a key' ? { apiKey: KEY } : { oauth, tokenUrl };
      const shared = { ...place, ...own, requestsPerSecond: 20_000, http, store, now };
      const feed = createDatafordelerSource({ ...shared, wanted: everyone });
      const source = createFilesSource(feed, { ...shared, files: join(newFolder(), 'files') });
      onTestFinished(async () => source.close?.());
      return [source];
    },
  });
  const strike = async (match: string, work: () => Promise<unknown>) => {
    for (const fault of Object.keys(FAULTS)) {
      faulty.next(fault);
      struck = match;
      await work();
      expect(struck, `${match}: ${fault}`).toBeUndefined();
      watch.forward(HOUR);
    }
  };
  const read = () => watch.run();
  if (access === 'a client') await strike('/realms/', read);
  await strike('GetAvailableFileDownloads', read);
  await strike('GetFile', read);
  await strike('/CVR/v2', read);
  await read();
  await strike('/CVR/v2', async () => {
    await store.write((tx) => requestCompany(tx, 'CVR-1-95000001', watch.now()));
    const held = await claim(store, 'ask', { limit: 1, now: watch.now(), leaseMs: 30_000 });
    await fetchMissing(watch.deps, watch.sources, held, new AbortController().signal);
  });
  expect(await store.db.selectFrom('snapshot').select('entity').execute()).not.toEqual([]);
  await telemetry.close();
  const spans = collector.spans();
  expect(spans.length).toBeGreaterThan(50);
  expect(log.length).toBeGreaterThan(40);
  const said = {
    log: log.join(''),
    metrics: await metrics.registry.metrics(),
    traces: JSON.stringify(spans),
    store: [url, `${url}-wal`].map((path) => readFileSync(path).toString('latin1')).join(''),
  };
  const secrets = [KEY, encodeURIComponent(KEY), 'emulated-datafordeler-secret', 'emulated-token-', 'apiKey='];
  for (const [place, all] of Object.entries(said))
    for (const secret of secrets) expect(all.includes(secret), `${secret} in ${place}`).toBe(false);
});
