/**
 * Sends spans and metrics to a receiver that speaks OTLP over HTTP, with the official OpenTelemetry packages. Only a
 * configuration that asks for it loads this file. Telemetry never delays the daemon: what the receiver does not take in
 * time is dropped, and the queue is bounded.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  DiagLogLevel,
  diag,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Registry } from 'prom-client';
import { metricsOf } from './metric-data.ts';
import type { SpanStart, Tracing } from './trace.ts';

export interface TelemetrySettings {
  /** Base URL of the receiver; the exporters add `/v1/traces` and `/v1/metrics`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Share of the traces that begin here to send, 0 to 1. */
  readonly sampleRatio: number;
  /** Seconds between two exports of the metrics; 0 exports none. */
  readonly metricsSeconds: number;
}

export interface TelemetryDeps {
  readonly version: string;
  readonly daemon: string;
  readonly registry: Registry;
  readonly log: { warn(details: object, message: string): void };
}

export interface Telemetry {
  readonly tracing: Tracing;
  close(): Promise<void>;
}

/** Spans that wait to be sent, some 2 MB; newer ones are dropped. */
const MOST_WAITING = 2_048;
const EXPORT_MS = 5_000;
const CLOSE_MS = 3_000;
const WARN_EVERY_MS = 60_000;

export function openTelemetry(settings: TelemetrySettings, deps: TelemetryDeps): Telemetry {
  warnSeldom(deps.log, settings.endpoint);
  const { version, daemon, registry } = deps;
  const resource = resourceFromAttributes({
    'service.name': 'cvrsync',
    'service.version': version,
    'service.instance.id': daemon,
  });
  const exportTo = (path: string) => ({
    url: `${settings.endpoint.replace(/\/$/, '')}/v1/${path}`,
    headers: { ...settings.headers },
    timeoutMillis: EXPORT_MS,
  });
  const tracers = new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: withCauses(new TraceIdRatioBasedSampler(settings.sampleRatio)) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(exportTo('traces')),
        maxQueueSize: MOST_WAITING,
        exportTimeoutMillis: EXPORT_MS,
      }),
    ],
  });
  const meters =
    settings.metricsSeconds === 0
      ? undefined
      : new MeterProvider({
          resource,
          readers: [
            new PeriodicExportingMetricReader({
              exporter: new OTLPMetricExporter(exportTo('metrics')),
              exportIntervalMillis: settings.metricsSeconds * 1_000,
              exportTimeoutMillis: Math.min(EXPORT_MS, settings.metricsSeconds * 1_000),
              metricProducers: [metricsOf(registry, resource)],
            }),
          ],
        });
  return {
    tracing: tracingBy(tracers.getTracer('cvrsync', version)),
    async close() {
      const ended = Promise.allSettled([tracers.shutdown(), meters?.shutdown()]);
      const timer = Promise.withResolvers<void>();
      const late = setTimeout(timer.resolve, CLOSE_MS);
      await Promise.race([ended, timer.promise]);
      clearTimeout(late);
    },
  };
}

/** Sends every trace that a sent trace caused, so that its links lead somewhere; samples all others. */
const withCauses = (byShare: Sampler): Sampler => ({
  shouldSample(...span) {
    const [, , , , , links] = span;
    return links.some(({ context }) => (context.traceFlags & TraceFlags.SAMPLED) !== 0)
      ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
      : byShare.shouldSample(...span);
  },
  toString: () => `withCauses(${byShare.toString()})`,
});

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, lane: SpanKind.CONSUMER };

function tracingBy(tracer: Tracer): Tracing {
  const active = new AsyncLocalStorage<Span>();
  return {
    inSpan(name, start, work) {
      const { kind, attributes = {}, links = [] } = start;
      const options = { kind: KINDS[kind], attributes: { ...attributes }, links: links.flatMap(linkTo) };
      const span = tracer.startSpan(name, options, contextOf(start, active.getStore()));
      return active.run(span, async () => {
        try {
          return await work();
        } catch (error) {
          // No message: it may quote personal data.
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
          throw error;
        } finally {
          span.end();
        }
      });
    },
    describe(attributes) {
      active.getStore()?.setAttributes({ ...attributes });
    },
    current() {
      const context = active.getStore()?.spanContext();
      if (context === undefined) return undefined;
      return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
    },
  };
}

function contextOf({ kind, parent }: SpanStart, outer: Span | undefined) {
  const caller = parent === undefined ? null : parseTraceParent(parent);
  if (caller !== null) return trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true });
  return kind === 'lane' || outer === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, outer);
}

function linkTo(context: string): readonly Link[] {
  const found = parseTraceParent(context);
  return found === null ? [] : [{ context: found }];
}

/** The packages report failures through two global handlers; this logs one a minute. */
function warnSeldom(log: TelemetryDeps['log'], endpoint: string): void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warn = (reason: unknown): void => {
    const now = performance.now();
    if (now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    const details = reason instanceof Error ? { err: reason } : { reason: String(reason) };
    log.warn({ ...details, endpoint }, 'telemetry cannot be sent: some of it is lost');
  };
  const quiet = (): void => {};
  setGlobalErrorHandler(warn);
  // The only report of spans dropped from a full queue.
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN);
}
