/**
 * Tracing, as the rest of the program sees it: work runs in spans, and W3C trace contexts name what causes it. Until
 * {@link traceWith} is called, every function here does the work alone, and the tracing packages are not loaded.
 *
 * A trace ends at each lane, because one run of a lane does what many events caused. The run's span links to the traces
 * of these events, which the store keeps.
 */

/** docs/telemetry.md says what each span covers. */
export type SpanName = 'webhook' | 'apply' | 'sync' | 'crm' | 'register' | 'deliver' | 'http';

/**
 * docs/telemetry.md gives the meanings. Only ids and names of ours and counts: no personal names, addresses or
 * payloads.
 */
export interface SpanAttributes {
  readonly 'cvrsync.entity'?: string;
  readonly 'cvrsync.provider'?: string;
  readonly 'cvrsync.verb'?: string;
  readonly 'cvrsync.records'?: number;
  readonly 'cvrsync.companies'?: number;
  readonly 'cvrsync.events'?: number;
  readonly 'cvrsync.source'?: string;
  readonly 'cvrsync.documents'?: number;
  readonly 'cvrsync.monitor'?: string;
  readonly 'cvrsync.attempt'?: number;
  readonly 'http.request.method'?: string;
  readonly 'http.response.status_code'?: number;
  readonly 'server.address'?: string;
}

export interface SpanStart {
  /** `lane` always begins a new trace. */
  readonly kind: 'server' | 'client' | 'lane';
  readonly attributes?: SpanAttributes;
  readonly parent?: string | undefined;
  /** Trace contexts of the causes; if one of them is sent, this span is sent too. */
  readonly links?: readonly string[];
}

export interface Tracing {
  inSpan<T>(name: SpanName, start: SpanStart, work: () => Promise<T>): Promise<T>;
  describe(attributes: SpanAttributes): void;
  current(): string | undefined;
}

let tracing: Tracing | undefined;

/** Replaces the tracing; undefined turns it off. */
export function traceWith(given: Tracing | undefined): void {
  tracing = given;
}

export const isTracing = (): boolean => tracing !== undefined;

/** Runs work in a span; calls `start` only if tracing is on. */
export const inSpan = <T>(name: SpanName, start: () => SpanStart, work: () => Promise<T>): Promise<T> =>
  tracing === undefined ? work() : tracing.inSpan(name, start(), work);

export const describeSpan = (attributes: SpanAttributes): void => tracing?.describe(attributes);

/** The current trace context, formatted as `traceparent` (W3C Trace Context). */
export const traceparent = (): string | undefined => tracing?.current();

/** The current trace context if the trace is sent: what a row keeps for the work that it causes in another lane. */
export function traceToStore(): string | undefined {
  const context = tracing?.current();
  return context?.endsWith('-01') === true ? context : undefined;
}

/** The ids of trace and span for a log line. Always a new object, because pino writes the line's fields into it. */
export function traceIds(): { readonly trace_id?: string; readonly span_id?: string } {
  const context = tracing?.current();
  if (context === undefined) return {};
  const [, trace_id = '', span_id = ''] = context.split('-');
  return { trace_id, span_id };
}
