import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { addHealthRoutes, addInsightRoutes, type Insight, type Readiness } from '../../src/http/platform.ts';
import { createServer, type Server } from '../../src/http/server/server.ts';

let app: Server | undefined;
afterEach(() => app?.close());

const READY = async (): Promise<Readiness> => ({ ok: true, reasons: [] });

const serving = (insight: Partial<Insight> = {}, ready = READY): Server => {
  app = createServer();
  addHealthRoutes(app, ready);
  addInsightRoutes(app, {
    registry: createMetrics().registry,
    openapi: async () => ({ openapi: '3.1.0' }),
    ...insight,
  });
  return app;
};

describe('the platform', () => {
  it('learns that the process is live and ready', async () => {
    const server = serving();
    for (const url of ['/live', '/ready']) expect((await server.inject(url)).json()).toEqual({ ok: true });
    expect((await server.inject('/openapi.json')).json()).toEqual({ openapi: '3.1.0' });
  });

  it('learns only on the admin listener which service does not answer, and that the process is still ready', async () => {
    const ready = async () => ({ ok: true, reasons: [], details: ['hubspot does not answer since 08:00'] });
    expect((await serving({}, ready).inject('/ready')).json()).toEqual({ ok: true });
    await app?.close();
    app = createServer();
    addHealthRoutes(app, ready, { hide: true });
    const answer = await app.inject('/ready');
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { ok: true, details: ['hubspot does not answer since 08:00'] },
    ]);
  });

  it('learns why work is not accepted, and to ask again', async () => {
    const stopping = async () => ({ ok: false, reasons: ['the process is stopping'] });
    const answer = await serving({}, stopping).inject('/ready');
    expect(answer.statusCode).toBe(503);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.json()).toMatchObject({
      httpStatusCode: 503,
      errors: [{ path: '', message: 'the process is stopping' }],
    });
  });

  it('learns that the process is not ready if the check itself throws', async () => {
    const failing = serving({}, () => Promise.reject(new Error('postgres://user:sesame@db')));
    const answer = await failing.inject('/ready');
    expect([answer.statusCode, answer.body.includes('sesame')]).toEqual([503, false]);
  });

  it('scrapes metrics that are measured first', async () => {
    const metrics = createMetrics();
    metrics.measureBy(async () => metrics.backlog.set(7));
    const answer = await serving({ registry: metrics.registry }).inject('/metrics');
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    expect(answer.body).toMatch(/^cvrsync_backlog 7$/m);
    expect(answer.body).toMatch(/^process_resident_memory_bytes \d/m);
  });

  it('needs the token, except for /live and /ready', async () => {
    const server = serving({ guard: { adminToken: 'a-token-of-some-length' } });
    const status = async (url: string, headers = {}) => (await server.inject({ url, headers })).statusCode;
    for (const url of ['/metrics', '/openapi.json']) {
      expect(await status(url)).toBe(401);
      expect(await status(url, { authorization: 'Bearer another-token-of-length' })).toBe(401);
      expect(await status(url, { authorization: 'Bearer a-token-of-some-length' })).toBe(200);
    }
    for (const url of ['/live', '/ready']) expect(await status(url)).toBe(200);
  });
});

describe('metrics', () => {
  it('keep few label values, whatever names come in', async () => {
    const metrics = createMetrics();
    for (let i = 0; i < 1_000; i++) metrics.countUnknownEvent(`event-${i}`);
    metrics.countUnknownEvent('event-3');
    metrics.countMalformedEntry('x'.repeat(10_000));
    const text = await metrics.registry.metrics();
    const lines = text.split('\n').filter((line) => line.startsWith('cvrsync_unknown_events_total{'));
    expect(lines).toHaveLength(51);
    expect(lines).toContain('cvrsync_unknown_events_total{event="event-3"} 2');
    expect(lines).toContain('cvrsync_unknown_events_total{event="other"} 950');
    expect(text.length).toBeLessThan(50_000);
  });

  it('of two apps in one process are separate', async () => {
    const [one, two] = [createMetrics(), createMetrics()];
    one.webhooksReceived.inc({ result: 'accepted' });
    expect(await two.registry.getSingleMetricAsString('cvrsync_webhooks_received_total')).not.toContain('accepted');
  });
});
