/** Telemetry of the real daemon, at a receiver of OpenTelemetry. */
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { document, ENTITY, name } from '../service/register/documents.ts';
import { daemonWith } from '../support/daemon.ts';
import { readDoc, tableIn } from '../support/docs.ts';
import { configFor, startCrms } from '../support/fixture.ts';
import { type ENGINES, newFolder, newStoreUrl, opened, SUITE_ENGINES } from '../support/stores.ts';
import { attributeOf, type Collector, openCollector, type SentSpan } from './collector.ts';

const only = <T>(found: readonly T[]): T => {
  expect(found).toHaveLength(1);
  const [one = expect.fail()] = found;
  return one;
};

const linked = (span: SentSpan, to: SentSpan): boolean => span.links.some(({ spanId }) => spanId === to.spanId);

/** What a table of the page lists, but for what only a failure says. */
const listed = (what: 'Span' | 'Attribute'): readonly string[] =>
  tableIn(readDoc('docs/telemetry.md'), what)
    .map((row) => (row[what] ?? '').slice(1, -1))
    .filter((name) => name !== 'error.type')
    .toSorted();
const spansOf = (collector: Collector): readonly string[] =>
  [...new Set(collector.spans().map((span) => span.name))].toSorted();
const attributesOf = (collector: Collector): readonly string[] =>
  [...new Set(collector.spans().flatMap(({ attributes }) => attributes.map(({ key }) => key)))]
    .filter((name) => name !== 'error.type')
    .toSorted();

/** Both halves as one process, with a company in the register and its record in HubSpot. */
async function startScene(
  telemetry: object | undefined,
  {
    engine = 'sqlite',
    options = [],
  }: { readonly engine?: (typeof ENGINES)[number]; readonly options?: readonly string[] } = {},
) {
  const crms = await startCrms();
  const url = await newStoreUrl(engine);
  const register = join(newFolder(), 'register.ndjson');
  const say = (called: string, second: number) =>
    appendFile(
      register,
      `${JSON.stringify(document({ navne: [name(called)], sidstIndlaest: `2026-03-10T10:00:0${second}.000Z` }))}\n`,
    );
  await say('Havblik ApS', 0);
  const service = {
    register: { source: 'file', path: register, pollSeconds: 1 },
    secretKey: Buffer.alloc(32, 7).toString('base64'),
  };
  const daemon = await daemonWith({ ...configFor(crms, url, { service }), ...(telemetry && { telemetry }) }, options);
  await daemon.start();
  const store = await opened(url);
  const recordId = crms.hubspot.add({ name: 'Havblik ApS' });
  await expect.poll(() => store.db.selectFrom('snapshot').select('entity').execute()).toEqual([{ entity: ENTITY }]);
  await store.write((tx) =>
    linkRecord(tx, { provider: 'hubspot', recordId, entity: ENTITY, sendUpdate: true, now: Date.now() }),
  );
  const isListed = async () => (await store.db.selectFrom('item').select('entity').execute()).length;
  await expect.poll(isListed).toBe(1);
  return {
    daemon,
    hubspot: crms.hubspot,
    phone: () => crms.hubspot.get(recordId)?.['phone'],
    /** The register changes the name, and the record follows. */
    async rename(called: string, second: number) {
      await say(called, second);
      await expect.poll(() => crms.hubspot.get(recordId)?.['name']).toBe(called);
    },
  };
}

/** A webhook with a phone number, from a sender with a trace of its own. */
async function send(url: string | undefined, traceparent: string, number: string): Promise<void> {
  const answer = await fetch(`${url}/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent },
    body: JSON.stringify({
      entityId: ENTITY,
      timestamp: `2026-08-14T09:30:${number.slice(-2)}Z`,
      updates: { phoneNumber: { updated: true, before: null, after: number } },
    }),
  });
  expect(answer.status).toBe(204);
}

/** The one span that a finished chain leads to from the page, each found by what it says of the one before. */
function chainFrom(collector: Collector, page: SentSpan): Readonly<Record<string, SentSpan>> {
  const deliver = only(collector.spans('deliver').filter((span) => linked(span, page)));
  const http = only(collector.spans('http').filter(({ parentSpanId }) => parentSpanId === deliver.spanId));
  const webhook = only(collector.spans('webhook').filter(({ parentSpanId }) => parentSpanId === http.spanId));
  const apply = only(collector.spans('apply').filter((span) => linked(span, webhook)));
  const sync = only(collector.spans('sync').filter((span) => linked(span, webhook)));
  return { deliver, http, webhook, apply, sync };
}

describe.each(SUITE_ENGINES)('telemetry on %s', (engine) => {
  it('leads from a page of the register over its delivery and webhook to the write in the CRM', async () => {
    const collector = await openCollector();
    const headers = { 'x-key': 'key-of-the-receiver' };
    const { daemon, rename } = await startScene(
      { endpoint: collector.endpoint, headers, sampleRatio: 1, metricsSeconds: 1 },
      { engine },
    );
    await rename('Havblik Handel ApS', 1);
    const changed = () => collector.spans('deliver').filter(({ links }) => links.length > 0);
    await expect.poll(changed).not.toEqual([]);
    await daemon.kill('SIGTERM');

    const delivered = changed().map(({ links }) => only(links).spanId);
    const page = only(collector.spans('register').filter(({ spanId }) => delivered.includes(spanId)));
    const { deliver, http, webhook, apply, sync } = chainFrom(collector, page);
    expect(attributeOf(page, 'cvrsync.documents')).toBe('1');
    expect(webhook?.traceId).toBe(deliver?.traceId);
    expect(new Set([page, deliver, apply, sync].map((span) => span?.traceId)).size).toBe(4);
    expect([deliver, webhook].map((span) => span && attributeOf(span, 'cvrsync.entity'))).toEqual([ENTITY, ENTITY]);
    expect(http && attributeOf(http, 'http.response.status_code')).toBe('204');
    const verbs = collector.spans('crm').filter(({ parentSpanId }) => parentSpanId === sync?.spanId);
    expect(verbs.map((span) => attributeOf(span, 'cvrsync.verb'))).toEqual(expect.arrayContaining(['read', 'update']));
    expect(new Set(collector.keys)).toEqual(new Set(['key-of-the-receiver']));
    expect(spansOf(collector)).toEqual(listed('Span'));
    expect(attributesOf(collector)).toEqual(listed('Attribute'));
    expect(JSON.stringify(collector.spans())).not.toContain('Havblik');
    expect(daemon.log.join('\n')).not.toContain('key-of-the-receiver');
  });
});

describe('telemetry', () => {
  it('leads from a webhook to the write in the CRM over a restart between the two', async () => {
    const collector = await openCollector();
    const scene = await startScene({ endpoint: collector.endpoint, sampleRatio: 0, metricsSeconds: 0 });
    const { daemon, hubspot, phone } = scene;
    const before = hubspot.calls.length;
    hubspot.fault({ match: 'batch/read', action: { kind: 'status', status: 503 } });
    await send(daemon.url, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '20000001');
    await expect.poll(() => hubspot.calls.length).toBeGreaterThan(before);
    await daemon.kill('SIGTERM');
    const webhook = only(collector.spans('webhook'));
    await daemon.start();
    await expect.poll(phone).toBe('+4520000001');
    await daemon.kill('SIGTERM');
    const causes = collector.spans('sync').filter((span) => linked(span, webhook));
    const writes = collector.spans('crm').filter((span) => attributeOf(span, 'cvrsync.verb') === 'update');
    expect(causes.map(({ spanId }) => spanId)).toContain(only(writes).parentSpanId);
  });

  it('sends the metrics as /metrics has them', async () => {
    const collector = await openCollector();
    const { daemon, rename } = await startScene({ endpoint: collector.endpoint, sampleRatio: 1, metricsSeconds: 1 });
    await rename('Havblik Handel ApS', 1);
    const acknowledged = () => collector.metric('cvrsync_webhook_ack_duration_seconds')?.histogram?.dataPoints[0];
    await expect.poll(() => acknowledged()?.count ?? 0).toBeGreaterThan(0);
    const text = await (await fetch(`${daemon.adminUrl}/metrics`)).text();
    const { count = 0, bucketCounts = [], explicitBounds = [] } = acknowledged() ?? {};
    expect(bucketCounts.reduce((sum, each) => sum + Number(each), 0)).toBe(Number(count));
    const bounds = [...text.matchAll(/cvrsync_webhook_ack_duration_seconds_bucket\{le="([\d.]+)"\}/gu)];
    expect(explicitBounds.map(String)).toEqual(bounds.map(([, bound]) => bound));
    expect(collector.metric('cvrsync_webhooks_received_total')?.sum?.isMonotonic).toBe(true);
    expect(collector.metric('cvrsync_backlog')).toHaveProperty('gauge');
  });

  it('sends what a sampled sender caused and nothing of others, where it keeps no trace of its own', async () => {
    const collector = await openCollector();
    const { daemon, phone } = await startScene({ endpoint: collector.endpoint, sampleRatio: 0, metricsSeconds: 0 });
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const traceparents = [
      '00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-00',
      `00-${traceId}-b7ad6b7169203331-01`,
      'not a trace',
    ];
    for (const [at, traceparent] of traceparents.entries()) {
      await send(daemon.url, traceparent, `2000000${at}`);
      // One after the other: events that wait together are applied as one.
      await expect.poll(phone).toBe(`+452000000${at}`);
    }
    await daemon.kill('SIGTERM');
    const webhook = only(collector.spans('webhook'));
    expect([webhook.traceId, webhook.parentSpanId]).toEqual([traceId, 'b7ad6b7169203331']);
    const roots = collector.spans().filter(({ parentSpanId }) => !parentSpanId);
    expect(new Set(roots.map((span) => span.name))).toEqual(new Set(['apply', 'sync']));
    expect(roots.filter((span) => !linked(span, webhook))).toEqual([]);
    expect(new Set(collector.spans().map((span) => span.traceId))).toEqual(
      new Set([traceId, ...roots.map((span) => span.traceId)]),
    );
  });

  it('warns once a minute of a receiver that refuses, and works on', async () => {
    const collector = await openCollector(400);
    const { daemon, rename } = await startScene({ endpoint: collector.endpoint, sampleRatio: 1, metricsSeconds: 1 });
    await rename('Havblik Handel ApS', 1);
    await expect.poll(() => collector.keys.length).toBeGreaterThan(3);
    await daemon.kill('SIGTERM');
    only(daemon.log.filter((line) => line.includes('telemetry cannot be sent')));
  });

  it('does not keep the daemon from ending where its receiver never answers', async () => {
    const collector = await openCollector('silent');
    const { daemon, rename } = await startScene({ endpoint: collector.endpoint, sampleRatio: 1, metricsSeconds: 1 });
    await rename('Havblik Handel ApS', 1);
    await expect.poll(() => collector.keys.length).toBeGreaterThan(0);
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('names the trace in the log, where work in a span says something', async () => {
    const collector = await openCollector();
    const { daemon } = await startScene({ endpoint: collector.endpoint, sampleRatio: 1, metricsSeconds: 0 });
    const answer = await fetch(`${daemon.url}/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
      body: JSON.stringify({ entityId: ENTITY, timestamp: '2099-08-14T09:30:00Z', updates: {} }),
    });
    expect(answer.status).toBe(204);
    const told = () => daemon.log.filter((line) => /"trace_id":"[0-9a-f]{32}","span_id":"[0-9a-f]{16}"/u.test(line));
    await expect.poll(told).not.toEqual([]);
  });

  it('is off where nothing asks for it, and its packages are not loaded', async () => {
    const hook = join(newFolder(), 'loaded.mjs');
    await writeFile(
      hook,
      `import { registerHooks } from 'node:module';
      registerHooks({ resolve(specifier, context, next) {
        const { url, ...rest } = next(specifier, context);
        if (url.includes('@opentelemetry/') && !url.includes('@opentelemetry/api/')) console.error('loaded', url);
        return { url, ...rest };
      } });`,
    );
    const loaded = async (telemetry: object | undefined): Promise<boolean> => {
      const { daemon, rename } = await startScene(telemetry, { options: ['--import', hook] });
      await rename('Havblik Handel ApS', 1);
      return daemon.log.some((line) => line.startsWith('loaded'));
    };
    expect(await loaded(undefined)).toBe(false);
    const { endpoint } = await openCollector();
    expect(await loaded({ endpoint, metricsSeconds: 0 })).toBe(true);
  });
});
