/** Exports the metrics of `/metrics` to OpenTelemetry, so that there is one set of instruments. */
import { type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from 'prom-client';

type Labels = Readonly<Record<string, string | number>>;

interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** On histograms only: the metric's name with the suffix `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

interface Span {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

export function metricsOf(registry: Registry, resource: Resource): MetricProducer {
  const startTime = hrTime();
  return {
    async collect() {
      const span = { startTime, endTime: hrTime() };
      const metrics = await registry.getMetricsAsJSON();
      const scopeMetrics = [
        { scope: { name: 'cvrsync' }, metrics: metrics.flatMap((metric) => metricOf(metric, span)) },
      ];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
}

type RegistryMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

function metricOf({ name, help, type, values }: RegistryMetric, span: Span): readonly MetricData[] {
  if (values.length === 0) return [];
  const descriptor = { name, description: help, unit: '', valueType: ValueType.DOUBLE };
  const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const samples = values.map(({ labels, value, ...rest }): Sample => ({ ...rest, labels: definedIn(labels), value }));
  const dataPoints = samples.map(({ labels, value }): DataPoint<number> => ({ ...span, attributes: labels, value }));
  if (String(type) === 'counter') return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }];
  if (String(type) === 'gauge') return [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints }];
  if (String(type) === 'histogram')
    return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(samples, span) }];
  return [];
}

type HistogramPoint = Extract<MetricData, { dataPointType: DataPointType.HISTOGRAM }>['dataPoints'][number];

/** The registry counts the values up to each bound, OpenTelemetry those between two bounds. */
function histograms(samples: readonly Sample[], span: Span): HistogramPoint[] {
  const series = Map.groupBy(samples, ({ labels }) => JSON.stringify(withoutBound(labels)));
  return [...series.values()].map((one) => {
    const ends = (suffix: string) => one.filter(({ metricName = '' }) => metricName.endsWith(suffix));
    const buckets = ends('_bucket').map(({ labels, value }) => ({
      bound: Number(String(labels['le']).replace('+Inf', 'Infinity')),
      value,
    }));
    buckets.sort((a, b) => a.bound - b.bound);
    const counts = buckets.map(({ value }, at) => value - (buckets[at - 1]?.value ?? 0));
    const boundaries = buckets.map(({ bound }) => bound).filter(Number.isFinite);
    const [sum = 0, count = 0] = ['_sum', '_count'].map((suffix) => ends(suffix)[0]?.value);
    const attributes = withoutBound(one[0]?.labels ?? {});
    return { ...span, attributes, value: { buckets: { boundaries, counts }, sum, count } };
  });
}

const withoutBound = ({ le: _, ...labels }: Labels): Labels => labels;

const definedIn = (labels: Readonly<Record<string, string | number | undefined>>): Labels =>
  Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  );
