/** Where traces and metrics go: the part `telemetry` of the configuration. */
import Type from 'typebox';
import { baseUrl, CLOSED, secret } from './shapes.ts';

export const telemetry = Type.Object(
  {
    endpoint: baseUrl('Address of a receiver that speaks OTLP over HTTP; /v1/traces and /v1/metrics are added'),
    headers: Type.Record(Type.String(), secret('Value of the header.'), {
      default: {},
      description: 'Headers of each request to the endpoint, such as a key.',
    }),
    sampleRatio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.1,
      description: "Share of cvrsync's own traces to send; a trace with a caller follows the caller.",
    }),
    metricsSeconds: Type.Integer({
      minimum: 0,
      maximum: 3_600,
      default: 60,
      description: 'Seconds between two sends of the metrics; 0 turns it off.',
    }),
  },
  { ...CLOSED, description: 'Traces and metrics for OpenTelemetry; off by default.' },
);
