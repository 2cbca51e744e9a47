import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { addPlatformRoutes, type Platform } from '../../src/http/platform.ts';
import { createServer, type Server } from '../../src/http/server.ts';

let app: Server | undefined;
afterEach(() => app?.close());

const serving = (platform: Partial<Platform> = {}): Server => {
  app = createServer();
  const ready = async () => ({ ok: true, reasons: [] });
  addPlatformRoutes(app, {
    ready,
    registry: createMetrics().registry,
    openapi: () => ({ openapi: '3.1.0' }),
    ...platform,
  });
  return app;
};

describe('the platform', () => {
  it('hears that the process lives and is ready', async () => {
    const server = serving();
    for (const url of ['/live', '/ready']) expect((await server.inject(url)).json()).toEqual({ ok: true });
    expect((await server.inject('/openapi.json')).json()).toEqual({ openapi: '3.1.0' });
  });

  it('hears why work cannot be taken, and to ask again', async () => {
    const answer = await serving({ ready: async () => ({ ok: false, reasons: ['the process is stopping'] }) }).inject(
      '/ready',
    );
    expect(answer.statusCode).toBe(503);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.json()).toMatchObject({
      httpStatusCode: 503,
      errors: [{ path: '', message: 'the process is stopping' }],
    });
  });

  it('hears not ready where the check itself throws', async () => {
    const failing = serving({ ready: () => Promise.reject(new Error('postgres://user:sesame@db')) });
    const answer = await failing.inject('/ready');
    expect([answer.statusCode, answer.body.includes('sesame')]).toEqual([503, false]);
  });

  it('scrapes metrics that were brought up to date first', async () => {
    const metrics = createMetrics();
    const answer = await serving({ registry: metrics.registry, refresh: async () => metrics.backlog.set(7) }).inject(
      '/metrics',
    );
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    expect(answer.body).toMatch(/^cvrsync_backlog 7$/m);
    expect(answer.body).toMatch(/^process_resident_memory_bytes \d/m);
  });

  it('still scrapes while the store is down', async () => {
    const answer = await serving({ refresh: () => Promise.reject(new Error('down')) }).inject('/metrics');
    expect(answer.statusCode).toBe(200);
  });
});

describe('metrics', () => {
  it('keep few label values whatever names come in', async () => {
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

  it('of two processes in one are apart', async () => {
    const [one, two] = [createMetrics(), createMetrics()];
    one.received.inc({ result: 'accepted' });
    expect(await two.registry.getSingleMetricAsString('cvrsync_received_total')).not.toContain('accepted');
  });
});
