/** What the shipped files start: read from the image's file, the compose files and the chart, with nothing of it repeated here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { renderChart } from '../deploy/chart.ts';

const ROOT = join(import.meta.dirname, '../..');
export const DEPLOY = join(ROOT, 'deploy');

/** One container of cvrsync. */
export interface ShippedDaemon {
  readonly name: string;
  /** The command of the image. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** `cvrsync.yaml` as the file has it. */
  readonly configuration: object;
  /** The path of each secret in the container, by its name in the configuration. */
  readonly secrets: Readonly<Record<string, string>>;
}

export type Engine = 'sqlite' | 'postgres';
export type Form = 'compose' | 'chart' | 'roles';

/** The daemons of a form, and the proxy's configuration if it ships one. */
export interface Shipment {
  readonly daemons: readonly ShippedDaemon[];
  readonly nginx: string | undefined;
}

const read = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8');

/** What the image runs, and the environment that it sets. */
function image(): { readonly command: readonly string[]; readonly environment: Readonly<Record<string, string>> } {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const lineOf = (word: string): readonly string[] =>
    JSON.parse(new RegExp(`^${word} (\\[.*\\])$`, 'mu').exec(dockerfile)?.[1] ?? '[]');
  const environment = [...dockerfile.matchAll(/^ENV (.*)$/gmu)].flatMap(([, line = '']) =>
    [...line.matchAll(/(\w+)=(\S+)/gu)].map(([, name, value]) => [name, value]),
  );
  return { command: [...lineOf('ENTRYPOINT'), ...lineOf('CMD')], environment: Object.fromEntries(environment) };
}

interface ComposeFile {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>;
}

/** `variables` are those of `deploy/.env`. */
function composeDaemons(engine: Engine, variables: Readonly<Record<string, string>>): readonly ShippedDaemon[] {
  const file = engine === 'sqlite' ? 'compose.yaml' : 'compose.postgres.yaml';
  const { services }: ComposeFile = parse(read(file), { merge: true });
  const { command, environment: ofImage } = image();
  return Object.entries(services).flatMap(([name, { environment = {} }]) => {
    if (!name.startsWith('cvrsync')) return [];
    const set = Object.entries(environment).map(([key, value]): [string, string] => [
      key,
      value.replaceAll(/\$\{(\w+):-([^}]*)\}/gu, (_, variable: string, other: string) => variables[variable] ?? other),
    ]);
    const secrets = set.filter(([key]) => key.endsWith('_FILE')).map(([key, path]) => [key.slice(0, -5), path]);
    return {
      name,
      command,
      environment: { ...ofImage, ...Object.fromEntries(set) },
      configuration: parse(read(`compose/${engine}.yaml`)),
      secrets: Object.fromEntries(secrets),
    };
  });
}

/** The pods of the chart, with metrics as docs/deployment.md has them. */
function chartDaemons(engine: Engine, variables: Readonly<Record<string, string>>): readonly ShippedDaemon[] {
  const chart = join(DEPLOY, 'helm/cvrsync');
  const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  const admin = { host: '0.0.0.0', exposed: true, token: `\${ADMIN_TOKEN}` };
  const upstream = { ...values.config.connector.upstream, baseUrl: variables['MONITORING_URL'] };
  const store = { sqlite: values.config.store, postgres: `postgres://cvrsync:\${POSTGRES_PASSWORD}@database/cvrsync` };
  const connector = { ...values.config.connector, upstream };
  const own = { ADMIN_TOKEN: { secret: 'cvrsync', key: 'admin' } };
  const database = { POSTGRES_PASSWORD: { secret: 'cvrsync', key: 'postgres' } };
  const data = {
    Values: {
      ...values,
      config: { ...values.config, store: store[engine], admin, connector },
      secrets: { ...values.secrets, ...own, ...(engine === 'postgres' && database) },
    },
    Release: { Name: 'cvrsync', Service: 'Helm' },
    Chart: { AppVersion: '0' },
  };
  const objects = [...renderChart(chart, data)]
    .filter(([file]) => file !== 'NOTES.txt')
    .flatMap(([, text]) => parseAllDocuments(text).map((each) => Object(each.toJS())));
  const { spec } = objects.find(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment');
  const config = objects.find(({ kind }) => kind === 'ConfigMap');
  const { command, environment } = image();
  const [{ env }] = spec.template.spec.containers;
  const set = env.map(({ name, value }: { readonly name: string; readonly value: string }) => [name, value]);
  const secrets = set.filter(([key]: [string]) => key.endsWith('_FILE'));
  return Array.from({ length: spec.replicas }, (_, at) => ({
    name: `pod-${at}`,
    command,
    environment: { ...environment, ...Object.fromEntries(set) },
    configuration: parse(config.data['cvrsync.yaml']),
    secrets: Object.fromEntries(secrets.map(([key, path]: [string, string]) => [key.slice(0, -5), path])),
  }));
}

/** Daemons that divide the work as docs/deployment.md says, each with the files of compose. */
function roleDaemons(): readonly ShippedDaemon[] {
  const [daemon] = composeDaemons('postgres', {});
  if (daemon === undefined) throw new Error('compose.postgres.yaml has no daemon');
  const { upstream: _, ...connector } = Object(Object(daemon.configuration).connector);
  const register = { source: 'cvr', username: 'cvrsync', password: `\${CVR_PASSWORD}` };
  const service = { register, secretKey: `\${SECRET_KEY}` };
  const secrets = { CVR_PASSWORD: '/run/secrets/cvr_password', SECRET_KEY: '/run/secrets/secret_key' };
  const files = Object.entries(secrets).map(([name, path]) => [`${name}_FILE`, path]);
  return ['ingest', 'sync', 'service'].map((role) => ({
    ...daemon,
    name: role,
    environment: { ...daemon.environment, ...Object.fromEntries(files) },
    configuration: { ...daemon.configuration, connector, service, roles: [role] },
    secrets: { ...daemon.secrets, ...secrets },
  }));
}

export function shipment(engine: Engine, form: Form, variables: Readonly<Record<string, string>>): Shipment {
  const nginx = engine === 'postgres' && form === 'compose' ? read('compose/nginx.conf') : undefined;
  if (form === 'roles') return { daemons: roleDaemons(), nginx };
  const daemonsOf = form === 'compose' ? composeDaemons : chartDaemons;
  return { daemons: daemonsOf(engine, variables), nginx };
}
