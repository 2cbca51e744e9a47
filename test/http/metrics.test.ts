/** The names of all metrics, with or without a value, meet the rules of `promtool check metrics`. */
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';

const metrics = await createMetrics().registry.getMetricsAsJSON();

/** As promlint has them: no unit may be short, and only base units count. */
const ABBREVIATED = 's ms us ns sec b kb mb gb tb pb m h d'.split(' ');
const PREFIXED = /^(?:milli|micro|nano|kilo|mega|giga|tera|centi|deci)(?:seconds?|bytes?|grams?|meters?)$/u;
const LONG_TIMES = ['minutes', 'hours', 'days', 'weeks'];
const TYPES = ['counter', 'gauge', 'histogram', 'summary'];

/** What promtool would say of a metric. */
function faultsOf(name: string, type: string, help: string): readonly string[] {
  const words = name.split('_');
  const isCounter = type === 'counter';
  const isSpread = type === 'histogram' || type === 'summary';
  return [
    ...(help === '' ? ['has no help'] : []),
    ...(isCounter === name.endsWith('_total') ? [] : ['has the suffix _total, or lacks it']),
    ...(!isSpread && /_(?:bucket|count|sum)$/u.test(name) ? ['has a suffix of a histogram'] : []),
    ...(/[A-Z:]/u.test(name) ? ['has a capital or a colon'] : []),
    ...words.filter((word) => ABBREVIATED.includes(word)).map((word) => `abbreviates: ${word}`),
    ...words.filter((word) => PREFIXED.test(word) || LONG_TIMES.includes(word)).map((word) => `is in ${word}`),
    ...words.filter((word) => TYPES.includes(word)).map((word) => `says its type: ${word}`),
  ];
}

describe('a metric', () => {
  it.each(metrics.map(({ name, type, help }) => ({ name, type: String(type), help })))(
    '$name has a name that promtool accepts',
    ({ name, type, help }) => expect(faultsOf(name, type, help)).toEqual([]),
  );

  it.each([
    ['cvrsync_things_total', 'gauge', 1],
    ['cvrsync_things', 'counter', 1],
    ['cvrsync_read_ms', 'gauge', 1],
    ['cvrsync_read_milliseconds', 'gauge', 1],
    ['cvrsync_work_count', 'gauge', 1],
    ['cvrsync_work_gauge', 'gauge', 1],
    ['cvrsync_workItems', 'gauge', 1],
  ])('%s, a %s, is refused', (name, type, faults) => expect(faultsOf(name, type, 'Things.')).toHaveLength(faults));
});
