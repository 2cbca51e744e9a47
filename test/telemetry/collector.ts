/** A receiver of OpenTelemetry over HTTP: keeps what it is sent. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number };
}

export interface SentMetric {
  readonly name: string;
  readonly sum?: { readonly isMonotonic: boolean; readonly dataPoints: readonly { readonly asDouble: number }[] };
  readonly gauge?: object;
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly count: number;
      readonly sum: number;
      readonly bucketCounts: readonly number[];
      readonly explicitBounds: readonly number[];
    }[];
  };
}

interface Scoped {
  readonly spans?: readonly SentSpan[];
  readonly metrics?: readonly SentMetric[];
}

interface Sent {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly Scoped[] }[];
  readonly resourceMetrics?: readonly { readonly scopeMetrics: readonly Scoped[] }[];
}

export interface Collector {
  readonly endpoint: string;
  /** One value of each request's header `x-key`. */
  readonly keys: (string | undefined)[];
  spans(name?: string): readonly SentSpan[];
  metric(name: string): SentMetric | undefined;
}

/** Answers every request with the status, or none; closed with the test. */
export async function openCollector(status: number | 'silent' = 200): Promise<Collector> {
  const spans: SentSpan[] = [];
  const metrics = new Map<string, SentMetric>();
  const keys: (string | undefined)[] = [];
  const server = createServer(async (request, response) => {
    const sent = (await json(request)) as Sent;
    keys.push(request.headers['x-key']?.toString());
    const scopes = [
      ...(sent.resourceSpans ?? []).flatMap(({ scopeSpans }) => scopeSpans),
      ...(sent.resourceMetrics ?? []).flatMap(({ scopeMetrics }) => scopeMetrics),
    ];
    spans.push(...scopes.flatMap((scope) => scope.spans ?? []));
    for (const metric of scopes.flatMap((scope) => scope.metrics ?? [])) metrics.set(metric.name, metric);
    if (status !== 'silent') response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    spans: (name) => spans.filter((span) => name === undefined || span.name === name),
    metric: (name) => metrics.get(name),
  };
}

/** A span's attribute as a text; undefined if it has none of this name. */
export function attributeOf(span: SentSpan, name: string): string | undefined {
  const found = span.attributes.find(({ key }) => key === name);
  return found === undefined ? undefined : String(Object.values(found.value)[0]);
}
