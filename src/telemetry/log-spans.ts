/** Writes each span as a line of the log at level `trace`: the work, its attributes, its duration and its error. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { SpanAttributes, Tracing } from './trace.ts';

interface SpanLog {
  trace(details: object, message: string): void;
}

/** `sent`: the tracing that also exports the spans, if any. */
export function logSpans(log: SpanLog, sent: Tracing | undefined): Tracing {
  const described = new AsyncLocalStorage<object>();
  return {
    inSpan(name, start, work) {
      const attributes = { ...start.attributes };
      const began = performance.now();
      const end = (more: object): void =>
        log.trace({ ...attributes, ...more, ms: Math.round(performance.now() - began) }, `span ${name}`);
      const run = async () => {
        try {
          const result = await work();
          end({});
          return result;
        } catch (error) {
          end({ error: error instanceof Error ? error.name : String(error) });
          throw error;
        }
      };
      return described.run(attributes, () => (sent === undefined ? run() : sent.inSpan(name, start, run)));
    },
    describe(attributes: SpanAttributes) {
      Object.assign(described.getStore() ?? {}, attributes);
      sent?.describe(attributes);
    },
    current: () => sent?.current(),
  };
}
