/** The pages of operators name what there is: metrics with their labels, settings' defaults, every benchmark. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../src/http/metrics.ts';
import { DOCS, readDoc, spans, tableIn } from './support/docs.ts';

const SRC = join(import.meta.dirname, '../src');
const PROVIDERS = join(import.meta.dirname, '../providers');

const sections = (doc: string): readonly string[] => doc.split(/^(?=##+ )/mu);

const sourceOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('\n');

describe('the tables of faults', () => {
  const HEAD = ['Fault', 'What cvrsync does', 'What you see', 'What to do'];
  const tables = sections(readDoc('docs/operations.md'))
    .filter((section) => section.includes('| Fault |'))
    .map((section) => tableIn(section, ...HEAD));

  it('answer each question in each row', () => {
    expect(tables.length).toBeGreaterThan(4);
    for (const row of tables.flat()) expect(Object.values(row), row['Fault']).not.toContain('');
  });

  it('name each fault once', () => {
    const faults = tables.flat().map((row) => row['Fault']);
    expect(faults.toSorted()).toEqual([...new Set(faults)].toSorted());
  });
});

describe('a metric in a document', () => {
  const LABELLED = /(?<name>cvrsync_[a-z_]+)\{(?<labels>[^}]+)\}/gu;
  const named = DOCS.flatMap((path) => [...readDoc(path).matchAll(LABELLED)]).flatMap(({ groups = {} }) =>
    (groups['labels'] ?? '').split(',').map((pair) => {
      const [label = '', value] = pair.split('=');
      return { name: groups['name'] ?? '', label, value: value?.replaceAll('"', '') };
    }),
  );
  const source = `${sourceOf(SRC)}\n${sourceOf(PROVIDERS)}`;

  it('is shown with labels', () => expect(named.length).toBeGreaterThan(8));

  it.each(named)('has the label and the value: $name $label $value', ({ name, label, value }) => {
    const metric = Object(createMetrics().registry.getSingleMetric(name));
    expect(metric.labelNames).toContain(label);
    // Statuses are numbers in the code.
    if (value !== undefined && !/^\d+$/u.test(value)) expect(source).toContain(`'${value}'`);
  });
});

describe('the page of performance', () => {
  const rows = sections(readDoc('docs/performance.md'))
    .filter((section) => section.includes('| Benchmark |'))
    .flatMap((section) => tableIn(section, 'Benchmark', 'What it measures', 'Aim', 'Measured', 'Meets the aim'));

  it('has a row for each benchmark that `npm run bench` runs', () => {
    const list = /const BENCHES = \[(?<names>[^\]]+)\]/u.exec(readDoc('test/bench/run.ts'))?.groups?.['names'] ?? '';
    const benches = [...list.matchAll(/'(?<name>[\w-]+)'/gu)].map(({ groups = {} }) => groups['name']);
    expect(benches.length).toBeGreaterThan(10);
    expect(rows.flatMap((row) => spans(row['Benchmark'] ?? '')).toSorted()).toEqual(benches.toSorted());
  });

  it('says of each whether it meets its aim, and shows in bold what does not', () => {
    for (const row of rows) expect(row['Meets the aim'], row['Benchmark']).toMatch(/^(?:yes|\*\*no(?:t .+)?\*\*)$/u);
  });
});
