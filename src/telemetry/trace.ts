/**
 * Traces, as the rest of the program sees them: work runs in spans, and what causes it is named by W3C trace contexts.
 * Nothing is traced until {@link traceWith} is called; until then every function here does only what it must, and the
 * packages that trace are not loaded.
 *
 * One trace ends at each lane: a lane's run does what many events caused. Its span links to their traces, which the store
 * keeps with them.
 */

/** The spans; docs/telemetry.md says what each covers. */
export type SpanName = 'webhook' | 'apply' | 'sync' | 'crm' | 'register' | 'deliver' | 'http';

/**
 * What spans say; docs/telemetry.md has the meanings. Ids of ours, names of ours and counts; no names of people, no
 * addresses, no payloads.
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

/** What a span begins with. */
export interface SpanStart {
  /** `lane`: a trace of its own, whatever started it. */
  readonly kind: 'server' | 'client' | 'lane';
  readonly attributes?: SpanAttributes;
  /** The caller's trace context, as it was sent. */
  readonly parent?: string | undefined;
  /** Trace contexts of what caused it: with one of a trace that is sent, this one is sent too. */
  readonly links?: readonly string[];
}

/** What traces. */
export interface Tracing {
  /** Runs work in a span, which ends with it. */
  inSpan<T>(name: SpanName, start: SpanStart, work: () => Promise<T>): Promise<T>;
  /** Says more of the span that work runs in. */
  describe(attributes: SpanAttributes): void;
  /** The trace context of that span, as the header `traceparent` has it; undefined outside of spans. */
  current(): string | undefined;
}

let tracing: Tracing | undefined;

/** Traces from now on; undefined ends it. */
export function traceWith(given: Tracing | undefined): void {
  tracing = given;
}

export const isTracing = (): boolean => tracing !== undefined;

/** Runs work in a span; `start` is called only where that is traced. */
export const inSpan = <T>(name: SpanName, start: () => SpanStart, work: () => Promise<T>): Promise<T> =>
  tracing === undefined ? work() : tracing.inSpan(name, start(), work);

/** Adds attributes to the span that this runs in. */
export const describeSpan = (attributes: SpanAttributes): void => tracing?.describe(attributes);

/** The trace context that this runs in, as the header `traceparent` has it (W3C Trace Context); undefined where there is none. */
export const traceparent = (): string | undefined => tracing?.current();

/** The same, to be kept with what this work causes in another lane; undefined also where the trace is not sent. */
export function keptTrace(): string | undefined {
  const context = tracing?.current();
  return context?.endsWith('-01') === true ? context : undefined;
}

/**
 * The ids of trace and span for a line of the log; empty where nothing is traced. A new object each time: pino writes the
 * line's fields into it.
 */
export function traceIds(): { readonly trace_id?: string; readonly span_id?: string } {
  const context = tracing?.current();
  if (context === undefined) return {};
  const [, trace_id = '', span_id = ''] = context.split('-');
  return { trace_id, span_id };
}
