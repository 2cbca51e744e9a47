/** Where traces and metrics go: the part `telemetry` of the configuration. */
import Type from 'typebox';
import { baseUrl, CLOSED, secret } from './shapes.ts';

export const telemetry = Type.Object(
  {
    endpoint: baseUrl('Address of a receiver that speaks OTLP over HTTP; /v1/traces and /v1/metrics are added'),
    headers: Type.Record(Type.String(), secret('Value of the header.'), {
      default: {},
      description: 'Headers of each request to it, such as a key.',
    }),
    sampleRatio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.1,
      description: 'Share of the traces that begin here which are sent; others follow their caller.',
    }),
    metricsSeconds: Type.Integer({
      minimum: 0,
      maximum: 3_600,
      default: 60,
      description: 'How often the metrics are sent; 0 for never.',
    }),
  },
  { ...CLOSED, description: 'Traces and metrics for OpenTelemetry; nothing is traced without it.' },
);
