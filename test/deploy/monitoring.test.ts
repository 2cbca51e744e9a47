/** The rules, the scrape file and the dashboard for Prometheus and Grafana ask only for what `/metrics` has. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../../src/http/metrics.ts';
import { fenced, readDoc, tableIn } from '../support/docs.ts';
import { readPromQl } from './promql.ts';

const ROOT = join(import.meta.dirname, '../..');
const RULES = 'deploy/helm/cvrsync/cvrsync.rules.yaml';
const { registry } = createMetrics();

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A test of rules, as Prometheus runs it. */
interface RuleTest {
  readonly input_series: readonly { readonly series: string }[];
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[];
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const rules: readonly Rule[] = parse(readFileSync(join(ROOT, RULES), 'utf8')).groups.flatMap(
  ({ rules: own }: { readonly rules: readonly Rule[] }) => own,
);
const dashboard = JSON.parse(readFileSync(join(ROOT, 'deploy/grafana/cvrsync.json'), 'utf8'));
const panels: readonly Panel[] = dashboard.panels;
const alerts = rules.filter(({ alert }) => alert !== undefined);

/** What Prometheus adds to every series. */
const TARGET_LABELS = ['instance', 'job', 'le'];

const source = ['src', 'providers']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(ROOT, folder, path)),
  )
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');

/** The labels of a metric, by the name of one of its series; undefined if there is none. */
function labelsOf(series: string): readonly string[] | undefined {
  if (series === 'up') return TARGET_LABELS;
  const metric =
    registry.getSingleMetric(series) ?? registry.getSingleMetric(series.replace(/_(?:bucket|sum|count)$/u, ''));
  return metric === undefined ? undefined : [...Object(metric).labelNames, ...TARGET_LABELS];
}

const EXPRESSIONS: readonly (readonly [string, string])[] = [
  ...rules.map(({ alert, record, expr }) => [alert ?? record ?? '', expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

describe('an expression', () => {
  it.each(EXPRESSIONS)('of %s asks for a metric, labels and values that there are', (_, expr) => {
    const { asked, groups } = readPromQl(expr);
    expect(asked.length).toBeGreaterThan(0);
    const selected = asked.flatMap(({ metric, labels }) => labels.map(([label, value]) => ({ metric, label, value })));
    for (const { metric } of asked) expect(labelsOf(metric), metric).toBeDefined();
    for (const { metric, label } of selected) expect(labelsOf(metric), metric).toContain(label);
    const known = asked.flatMap(({ metric }) => labelsOf(metric) ?? []);
    for (const group of groups) expect(known).toContain(group);
    for (const { label, value } of selected)
      if (value !== undefined && !TARGET_LABELS.includes(label)) expect(source).toContain(`'${value}'`);
  });

  it('of the choice of a daemon asks for a metric that there is', () => {
    const choices: readonly string[] = dashboard.templating.list.flatMap(
      ({ query }: { query: unknown }) => Object(query).query ?? [],
    );
    for (const choice of choices) {
      const [, series = '', label] = /^label_values\((.+), (\w+)\)$/u.exec(choice) ?? [];
      for (const { metric } of readPromQl(series).asked) expect(labelsOf(metric), choice).toContain(label);
    }
    expect(choices.length).toBe(1);
  });

  it('that is none is refused', () => {
    expect(() => readPromQl('sum by (rate(up[5m])')).toThrow('no PromQL');
  });
});

describe('the alerts', () => {
  it('cover every metric that the operations page calls worth one', () => {
    const listed = tableIn(readDoc('docs/operations.md'), 'Metric', 'Alert when').flatMap(
      ({ Metric = '' }) => Metric.match(/cvrsync_\w+/gu) ?? [],
    );
    expect(listed.length).toBeGreaterThan(8);
    const asked = new Set(alerts.flatMap(({ expr }) => readPromQl(expr).asked.map(({ metric }) => metric)));
    expect(listed.filter((metric) => !asked.has(metric))).toEqual([]);
  });

  it('each have a case in the file that promtool runs, where it fires and where all is well', () => {
    const { tests }: { readonly tests: readonly RuleTest[] } = parse(
      readFileSync(join(ROOT, 'deploy/prometheus/cvrsync.rules.test.yaml'), 'utf8'),
    );
    const tried = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    const firing = tried.filter(({ exp_alerts = [] }) => exp_alerts.length > 0);
    const names = alerts.map(({ alert }) => alert).toSorted();
    expect(firing.map(({ alertname }) => alertname).toSorted()).toEqual(names);
    expect(tests[0]?.alert_rule_test.map(({ alertname }) => alertname).toSorted()).toEqual(names);
    for (const series of tests.flatMap((one) => one.input_series.map((input) => input.series)))
      expect(labelsOf(series.replace(/\{.*/u, '')), series).toBeDefined();
  });

  it('say what happened and what to do, under names of their own', () => {
    for (const { alert, expr, annotations } of alerts) {
      expect(annotations, alert).toMatchObject({ summary: expect.any(String), description: expect.any(String) });
      const known = readPromQl(expr).asked.flatMap(({ metric }) => labelsOf(metric) ?? []);
      const shown = JSON.stringify(annotations).match(/(?<=\$labels\.)\w+/gu) ?? [];
      expect(known, alert).toEqual(expect.arrayContaining(shown));
    }
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });
});

describe('the scrape file', () => {
  it('names the rules, the job that they ask for, and a token', () => {
    const folder = 'deploy/prometheus';
    const { rule_files, scrape_configs } = parse(readFileSync(join(ROOT, folder, 'prometheus.yaml'), 'utf8'));
    const tests = parse(readFileSync(join(ROOT, folder, 'cvrsync.rules.test.yaml'), 'utf8'));
    for (const files of [rule_files, tests.rule_files]) expect(files).toEqual([relative(folder, RULES)]);
    const page = fenced(readDoc('docs/operations.md'), 'yml').map((text) => parse(text).scrape_configs);
    for (const [config] of [scrape_configs, ...page])
      expect(config).toMatchObject({ job_name: 'cvrsync', authorization: { credentials_file: expect.any(String) } });
    expect(page).toHaveLength(1);
  });
});

describe('the dashboard for Grafana', () => {
  it('has panels with titles, side by side, none over another', () => {
    expect(panels.filter(({ type }) => type !== 'row').length).toBeGreaterThan(15);
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      expect(title).not.toBe('');
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x} ${y}`), title).toBe(false);
          taken.add(`${x} ${y}`);
        }
    }
  });
});
