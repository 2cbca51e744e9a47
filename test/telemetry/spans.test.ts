/** Spans as the packages send them. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import { openTelemetry, type Telemetry } from '../../src/telemetry/open-telemetry.ts';
import { inSpan, traceWith } from '../../src/telemetry/trace.ts';
import { openHook } from '../service/delivering.ts';
import { attributeOf, type Collector, openCollector } from './collector.ts';

const only = <T>(found: readonly T[]): T => {
  expect(found).toHaveLength(1);
  const [one = expect.fail()] = found;
  return one;
};

function openedAt({ endpoint }: Collector): Telemetry {
  onTestFinished(() => traceWith(undefined));
  const settings = { endpoint, headers: {}, sampleRatio: 1, metricsSeconds: 0 };
  const log = { warn: () => {} };
  return openTelemetry(settings, { version: '1.0.0', daemon: 'a', registry: createMetrics().registry, log });
}

describe('spans', () => {
  it('of requests give the trace context of the work that makes them along, and none where nothing is traced', async () => {
    const hook = await openHook();
    const collector = await openCollector();
    const opened = openedAt(collector);
    const client = openClient();
    onTestFinished(client.close);
    const ask = () => client.http({ method: 'POST', url: hook.url, body: '{}', signal: AbortSignal.timeout(60_000) });
    traceWith(opened.tracing);
    await inSpan('sync', () => ({ kind: 'lane' }), ask);
    traceWith(undefined);
    await ask();
    await opened.close();
    const sync = only(collector.spans('sync'));
    const http = only(collector.spans('http'));
    expect(http.parentSpanId).toBe(sync.spanId);
    expect(hook.seen.map(({ headers }) => headers['traceparent'])).toEqual([
      `00-${sync.traceId}-${http.spanId}-01`,
      undefined,
    ]);
  });

  it('say what kind of error ended them, and not what it says', async () => {
    const collector = await openCollector();
    const opened = openedAt(collector);
    traceWith(opened.tracing);
    const failing = () => Promise.reject(new RangeError('Ida Prøvesen is out of range'));
    await expect(inSpan('crm', () => ({ kind: 'client' }), failing)).rejects.toThrow('Ida');
    await opened.close();
    const crm = only(collector.spans('crm'));
    expect([crm.status.code, attributeOf(crm, 'error.type')]).toEqual([2, 'RangeError']);
    expect(JSON.stringify(crm)).not.toContain('Ida');
  });
});
