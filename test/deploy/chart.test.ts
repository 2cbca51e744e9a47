/** The chart: what it makes of its values is what Kubernetes, KEDA and the Prometheus operator take, and what it promises. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Ajv } from 'ajv';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Service } from 'kubernetes-models/v1/Service';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { checkConfig } from '../../src/config/load.ts';
import { isJsonObject } from '../../src/protocol/text/json.ts';
import { mark } from '../../src/runtime/lanes/lanes.ts';
import { newStore } from '../support/stores.ts';
import { renderChart } from './chart.ts';

const CHART = join(import.meta.dirname, '../../deploy/helm/cvrsync');
const read = (file: string): unknown => parse(readFileSync(join(CHART, file), 'utf8'));
const values = Object(read('values.yaml'));
const isValid = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')));

/** How each kind is checked against its schema. */
const KINDS = {
  ConfigMap,
  Deployment,
  Ingress,
  NetworkPolicy,
  PodDisruptionBudget,
  PrometheusRule,
  ScaledObject,
  Service,
  ServiceMonitor,
  StatefulSet,
  TriggerAuthentication,
};

const postgres = { config: { ...values.config, store: 'postgres://cvrsync@database/cvrsync' } };
const everything = {
  ...postgres,
  ingress: { ...values.ingress, enabled: true, className: 'nginx', annotations: { a: 'b' }, tlsSecret: 'tls' },
  networkPolicy: { ...values.networkPolicy, from: [{ podSelector: {} }], adminFrom: [{ podSelector: {} }] },
  serviceMonitor: { ...values.serviceMonitor, enabled: true, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  autoscaling: { ...values.autoscaling, enabled: true },
  imagePullSecrets: [{ name: 'registry' }],
  podAnnotations: { note: 'x' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'a', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
};

/** What the chart makes: by kind, in the order of the files. Each is checked against its schema. */
function made(over: object = {}) {
  const all = { ...values, ...over };
  expect(isValid(all), JSON.stringify(isValid.errors)).toBe(true);
  const data = {
    Values: all,
    Release: { Name: 'cvrsync', Service: 'Helm' },
    Chart: { AppVersion: Object(read('Chart.yaml')).appVersion },
  };
  const texts = [...renderChart(CHART, data)].filter(([file]) => file !== 'NOTES.txt').map(([, text]) => text);
  const objects = texts.flatMap((text) => parseAllDocuments(text)).map((each) => each.toJS());
  return objects
    .filter((each) => each !== null)
    .map((each): { readonly kind: string; readonly [key: string]: unknown } => {
      const Kind = Object.entries(KINDS).find(([kind]) => kind === each.kind)?.[1];
      if (Kind === undefined) throw new Error(`no schema for ${each.kind}`);
      new Kind(each).validate();
      return each;
    });
}

const kindsOf = (over?: object) => made(over).map(({ kind }) => kind);
const only = (kind: string, over?: object) => Object(made(over).find((each) => each.kind === kind));

const selects = ({ matchLabels }: { readonly matchLabels: object }, metadata: unknown): boolean =>
  Object.entries(matchLabels).every(([label, value]) => Object(metadata).labels[label] === value);

/** Values over a chart's own, as Helm merges them: map by map, and a key is taken out by null. */
function helmMerged(own: unknown, over: unknown): unknown {
  if (!isJsonObject(own) || !isJsonObject(over)) return over;
  const keys = new Set([...Object.keys(own), ...Object.keys(over)]);
  return Object.fromEntries(
    [...keys].flatMap((key) => {
      const value = Object.hasOwn(over, key) ? helmMerged(own[key], over[key]) : own[key];
      return value === null ? [] : [[key, value]];
    }),
  );
}

describe('the chart', () => {
  it('makes one pod with a volume on SQLite, and replicas that may go one at a time on PostgreSQL', () => {
    expect(kindsOf()).toEqual(['ConfigMap', 'StatefulSet', 'NetworkPolicy', 'Service', 'Service']);
    expect(only('StatefulSet').spec).toMatchObject({
      replicas: 1,
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    });
    expect(kindsOf(postgres)).toEqual([
      'ConfigMap',
      'Deployment',
      'PodDisruptionBudget',
      'NetworkPolicy',
      'Service',
      'Service',
    ]);
    expect(only('Deployment', postgres).spec).toMatchObject({
      replicas: 3,
      strategy: { rollingUpdate: { maxUnavailable: 0 } },
    });
  });

  it('makes valid objects of every value, and leaves the number of pods to KEDA where that counts', () => {
    expect(new Set(kindsOf(everything))).toEqual(new Set(Object.keys(KINDS).filter((kind) => kind !== 'StatefulSet')));
    expect(only('Deployment', everything).spec).not.toHaveProperty('replicas');
    expect(only('Deployment', everything).spec.template.spec).toMatchObject({
      imagePullSecrets: [{ name: 'registry' }],
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'a', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
    });
  });

  it.each([
    ['StatefulSet', {}],
    ['Deployment', postgres],
  ])('runs the %s without rights, on a file system that it cannot write to', (kind, over) => {
    const { spec } = only(kind, over).spec.template;
    expect(spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('leads to the public listener alone from outside, and to the admin listener only whom the values name', () => {
    const { rules } = only('Ingress', everything).spec;
    expect(rules[0].http.paths.map((path: object) => Object(path).backend.service)).toEqual([
      { name: 'cvrsync', port: { name: 'public' } },
    ]);
    expect(only('NetworkPolicy').spec.ingress).toEqual([{ ports: [{ port: 'public' }] }]);
    expect(only('NetworkPolicy', everything).spec.ingress[1]).toMatchObject({ ports: [{ port: 'admin' }] });
  });

  it('lets the pods reach every address that a configuration has by itself', async () => {
    const enabled = { reports: { enabled: true }, gazette: { enabled: true } };
    const service = { register: { source: 'cvr', username: 'a', password: 'a-password' }, ...enabled };
    const load = await checkConfig({ service }, '/etc/cvrsync/cvrsync.yaml', {});
    if (!load.ok) throw new Error(JSON.stringify(load.errors));
    const addresses = JSON.stringify(load.config.service).match(/https?:\/\/[^"]+/gu) ?? [];
    expect(addresses).toContain('http://distribution.virk.dk/offentliggoerelser');
    const ports = only('NetworkPolicy').spec.egress[0].ports.map(({ port }: { port: number }) => port);
    for (const address of addresses)
      expect(ports, address).toContain(Number(new URL(address).port) || (address.startsWith('https') ? 443 : 80));
  });

  it.each([
    ['StatefulSet', {}],
    ['Deployment', postgres],
  ])('lets a pod of the %s serve until nobody sends to it, within its time to stop', (kind, over) => {
    const { spec } = only(kind, over).spec.template;
    const [, seconds] = spec.containers[0].lifecycle.preStop.exec.command;
    expect(Number(seconds)).toBeGreaterThanOrEqual(5);
    // The daemon ends within 25 s.
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(25 + Number(seconds));
  });

  it('gives the daemon a configuration that it takes, with each secret as a file', async () => {
    const { containers, volumes } = only('StatefulSet').spec.template.spec;
    const paths = volumes.flatMap((volume: object) =>
      (Object(volume).projected?.sources ?? []).flatMap((source: object) => Object(source).secret.items),
    );
    expect(paths).toContainEqual({ key: 'hubspot', path: 'HUBSPOT_ACCESS_TOKEN' });
    const named = containers[0].env.filter(({ name }: { name: string }) => name.endsWith('_FILE'));
    expect(named.map(({ value }: { value: string }) => value)).toEqual(
      paths.map(({ path }: { path: string }) => `/run/secrets/cvrsync/${path}`),
    );
    const env = Object.fromEntries(
      Object.keys(values.secrets).map((name) => [name, 'a-secret-of-thirty-two-characters']),
    );
    const load = await checkConfig(parse(only('ConfigMap').data['cvrsync.yaml']), '/etc/cvrsync/cvrsync.yaml', env);
    expect(load).toMatchObject({ ok: true });
  });

  it('takes the values that docs/deployment.md has for Salesforce alone, merged into its own as Helm does it', async () => {
    const page = readFileSync(join(CHART, '../../../docs/deployment.md'), 'utf8');
    const [, text = ''] = /^Helm merges [\s\S]*?```yaml\n([\s\S]*?)```/mu.exec(page) ?? [];
    const merged = Object(helmMerged(values, parse(text)));
    const env = Object.fromEntries(
      Object.keys(merged.secrets).map((name) => [name, 'a-secret-of-thirty-two-characters']),
    );
    const configured = parse(only('ConfigMap', merged).data['cvrsync.yaml']);
    const load = await checkConfig(configured, '/etc/cvrsync/cvrsync.yaml', env);
    if (!load.ok) throw new Error(JSON.stringify(load.errors));
    expect(load.config.connector?.providers.map(({ name }) => name)).toEqual(['salesforce']);
    expect(load.config.connector?.upstream).toBeUndefined();
    expect(load.config.service).toBeDefined();
  });

  it('starts the pods anew where the configuration changed, and pins the image by its digest where it has one', () => {
    const template = (over: object) => only('Deployment', { ...postgres, ...over }).spec.template;
    const [one, other] = [template({}), template({ config: { ...postgres.config, storeConnections: 5 } })];
    expect(one.metadata.annotations).not.toEqual(other.metadata.annotations);
    const digest = `sha256:${'0'.repeat(64)}`;
    expect(template({ image: { ...values.image, digest } }).spec.containers[0].image).toBe(`cvrsync@${digest}`);
    expect(one.spec.containers[0].image).toBe('cvrsync:0.1.0');
  });

  it('asks KEDA to count due work, with a query that counts it', async () => {
    const store = await newStore('postgres');
    const { triggers } = only('ScaledObject', everything).spec;
    await store.write(async (tx) => {
      await mark(tx, 'sync:hubspot', ['1', '2'], Date.now() - 1_000);
      await mark(tx, 'sync:hubspot', ['3'], Date.now() + 3_600_000);
    });
    const { rows } = await sql.raw(triggers[0].metadata.query).execute(store.db);
    expect(Object.values(Object(rows[0])).map(Number)).toEqual([2]);
  });

  it('is scraped as the job that the rules ask for, with a token, and brings these rules', () => {
    const { spec, metadata } = only('ServiceMonitor', everything);
    const scraped = made(everything).find(({ kind, metadata: of }) => kind === 'Service' && selects(spec.selector, of));
    const job = Object(scraped?.['metadata']).labels[spec.jobLabel];
    const { secret: name, key } = values.serviceMonitor.token;
    expect(spec.endpoints).toMatchObject([{ authorization: { credentials: { name, key } } }]);
    expect(metadata.labels.release).toBe('prometheus');

    const rules = only('PrometheusRule', everything);
    expect(rules.metadata.labels.release).toBe('prometheus');
    expect(rules.spec).toEqual(read('cvrsync.rules.yaml'));
    const asked = JSON.stringify(rules.spec).match(/(?<=job=\\")[^\\]+/gu);
    expect(new Set(asked)).toEqual(new Set([job]));
  });

  it('has the version of the program', () => {
    const { version } = JSON.parse(readFileSync(join(CHART, '../../../package.json'), 'utf8'));
    expect(read('Chart.yaml')).toMatchObject({ version, appVersion: version });
  });

  it('refuses values that it does not know', () => {
    expect(isValid({ ...values, replica: 2 })).toBe(false);
    expect(isValid({ ...values, secrets: { 'A B': { secret: 'a', key: 'b' } } })).toBe(false);
  });
});
