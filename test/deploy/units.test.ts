/** The files that start cvrsync elsewhere: they name what there is, and what they configure is a configuration. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load-file.ts';
import { newFolder } from '../support/stores.ts';

const ROOT = join(import.meta.dirname, '../..');
const DEPLOY = join(ROOT, 'deploy');
const read = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8');

interface Service {
  readonly image: string;
  readonly build?: unknown;
  readonly logging?: { readonly driver: string; readonly options: Readonly<Record<string, string>> };
  readonly cap_add?: readonly string[];
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly cpus?: number;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly pids_limit?: number;
  readonly user?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: object;
}

/** The command of docs/deployment.md that makes the folder of the secrets. */
const MAKES_SECRETS = /mkdir [^&;\n]*\bsecrets\b/u;

const daemonsOf = ({ services }: Compose): readonly Service[] =>
  Object.entries(services).flatMap(([name, service]) => (name.startsWith('cvrsync') ? [service] : []));

/** As compose reads it: with merge keys. */
const composeFile = (name: string): Compose => parse(read(name), { merge: true });

const FILES = ['compose.yaml', 'compose.postgres.yaml', 'compose.tls.yaml'];

describe.each(FILES)('deploy/%s', (name) => {
  const compose = composeFile(name);
  const services = Object.entries(compose.services);

  it('gives every service limits, a restart and a log of bounded size', () => {
    for (const [service, { restart, mem_limit, cpus, logging }] of services) {
      expect([restart, typeof mem_limit, typeof cpus], service).toEqual(['unless-stopped', 'string', 'number']);
      const bounded = { 'max-size': expect.stringMatching(/^\d+m$/u), 'max-file': expect.stringMatching(/^\d+$/u) };
      expect(logging, service).toEqual({ driver: 'json-file', options: bounded });
    }
  });

  it('takes every right from every service, and lets it write to its volumes alone', () => {
    for (const [service, { read_only, cap_drop, cap_add = [], security_opt, pids_limit, image, user }] of services) {
      expect([read_only, cap_drop, security_opt], service).toEqual([true, ['ALL'], ['no-new-privileges:true']]);
      expect(pids_limit, service).toBeGreaterThan(0);
      expect(cap_add, service).toEqual(service === 'tls' ? ['NET_BIND_SERVICE'] : []);
      // Our own image names its user.
      if (!image.includes('CVRSYNC_IMAGE') && service !== 'tls') expect(user, service).toMatch(/^[1-9]\d*:[1-9]\d*$/u);
    }
  });

  it('names configurations that are there', () => {
    for (const { file } of Object.values(compose.configs)) expect(existsSync(join(DEPLOY, file)), file).toBe(true);
    const named = services.flatMap(([, { configs = [] }]) => configs.map(({ source }) => source));
    expect(new Set(named)).toEqual(new Set(Object.keys(compose.configs)));
  });

  it('needs no clone: images by name, and files that the package has', () => {
    const packed: readonly string[] = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).files;
    for (const [service, { build, image }] of services) expect([build, image], service).toEqual([undefined, image]);
    for (const file of [name, ...Object.values(compose.configs).map((config) => config.file)]) {
      const path = join('deploy', file);
      expect(
        packed.some((one) => path === one || path.startsWith(`${one}/`)),
        path,
      ).toBe(true);
    }
  });
});

describe.each(FILES.slice(0, 2))('deploy/%s', (name) => {
  const compose = composeFile(name);
  const services = Object.entries(compose.services);

  it('publishes ports to the machine alone, among them the metrics of each daemon under a port of its own', () => {
    for (const [service, { ports = [] }] of services)
      for (const port of ports) expect(port, service).toMatch(/^127\.0\.0\.1:/u);
    const scraped = daemonsOf(compose).map(({ ports = [] }) => ports.filter((port) => port.endsWith(':8081')));
    expect(scraped.map((ports) => ports.length)).toEqual(scraped.map(() => 1));
    const published = services.flatMap(([, { ports = [] }]) => ports);
    expect(new Set(published.map((port) => port.split(':')[1])).size).toBe(published.length);
    const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
    for (const [port = ''] of scraped) expect(page).toContain(`"${port.slice(0, port.lastIndexOf(':'))}"`);
  });

  it('keeps every secret in a file, and gives it to those alone who name it', () => {
    const named = services.flatMap(([, { secrets = [] }]) => secrets);
    expect(new Set(named)).toEqual(new Set(Object.keys(compose.secrets)));
    for (const [service, { secrets = [], environment = {} }] of services) {
      const variables = Object.entries(environment).filter(([key]) => /SECRET|KEY|TOKEN|PASSWORD/u.test(key));
      expect(variables.map(([, value]) => value).toSorted(), service).toEqual(
        secrets.map((secret) => `/run/secrets/${secret}`).toSorted(),
      );
      expect(variables.filter(([key]) => !key.endsWith('_FILE'))).toEqual([]);
    }
  });

  it('runs cvrsync with a configuration that loads, read-only but for its data', async () => {
    const [daemon] = daemonsOf(compose);
    if (daemon === undefined) throw new Error('no daemon');
    expect(daemon.read_only).toBe(true);
    const { source, target } = daemon.configs?.[0] ?? { source: '', target: '' };
    expect(daemon.environment?.['CVRSYNC_CONFIG']).toBe(target);
    const folder = newFolder();
    const secret = join(folder, 'secret');
    writeFileSync(secret, 'a-secret-of-sixteen-characters\n');
    const env = Object.fromEntries(
      Object.entries(daemon.environment ?? {}).map(([key, value]) => [
        key,
        key.endsWith('_FILE') ? secret : value.replace(/^\$\{\w+:-(.*)\}$/u, '$1'),
      ]),
    );
    const file = join(DEPLOY, compose.configs[source]?.file ?? '');
    const loaded = await loadConfig({ file, env });
    expect(loaded).toMatchObject({ ok: true, config: { server: { host: '0.0.0.0' }, admin: { exposed: true } } });
    if (loaded.ok) expect(loaded.config.store.startsWith('postgres:')).toBe(name.includes('postgres'));
  });
});

describe('the secrets of the compose files', () => {
  it('are in a folder that no other account of the machine can enter, made as docs/deployment.md says', () => {
    const [command] = MAKES_SECRETS.exec(readFileSync(join(ROOT, 'docs/deployment.md'), 'utf8')) ?? [];
    if (command === undefined) throw new Error('docs/deployment.md does not make the folder');
    const folder = newFolder();
    execFileSync('sh', ['-c', command], { cwd: folder });
    expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700);
  });
});

describe('deploy/compose.tls.yaml', () => {
  it('leads to the public listener of every daemon, as docs/deployment.md names them, and trusts it by the configurations', () => {
    const page = readFileSync(join(ROOT, 'docs/deployment.md'), 'utf8');
    const listed = (name: string) =>
      Object.keys(composeFile(name).services)
        .filter((service) => service.startsWith('cvrsync'))
        .map((service) => `${service}:8080`)
        .join(' ');
    expect(composeFile('compose.tls.yaml').services['tls']?.environment?.['CVRSYNC_DAEMONS']).toBe(
      `\${CVRSYNC_DAEMONS:-${listed('compose.yaml')}}`,
    );
    expect(page).toContain(`CVRSYNC_DAEMONS="${listed('compose.postgres.yaml')}"`);
    for (const file of ['sqlite', 'postgres'])
      expect(parse(read(`compose/${file}.yaml`)).server.trustProxy, file).toContain('172.16.0.0/12');
  });
});

describe('deploy/compose.postgres.yaml', () => {
  const compose = composeFile('compose.postgres.yaml');

  it('starts three daemons once the database is healthy, all behind the proxy', () => {
    const daemons = daemonsOf(compose);
    expect(daemons.length).toBe(3);
    for (const { depends_on } of daemons) expect(depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(compose.services['postgres']?.healthcheck).toBeDefined();
    const names = Object.keys(compose.services).filter((name) => name.startsWith('cvrsync'));
    // Else one failure takes a daemon out for ten seconds, and a database that restarts takes out all of them.
    const proxied = [...read('compose/nginx.conf').matchAll(/server (cvrsync-\d):(808[01]) resolve max_fails=0;/gu)];
    expect(proxied.map(([, name, port]) => `${name} ${port}`).toSorted()).toEqual(
      names.flatMap((name) => [`${name} 8080`, `${name} 8081`]).toSorted(),
    );
  });
});

describe('deploy/systemd/cvrsync.service', () => {
  const lines = read('systemd/cvrsync.service').split('\n');
  const settingOf = (key: string): string | undefined =>
    lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);

  it('gives the process no rights, a folder of its own, and time to end', () => {
    expect(
      Object.fromEntries(
        ['DynamicUser', 'NoNewPrivileges', 'ProtectSystem', 'CapabilityBoundingSet'].map((key) => [
          key,
          settingOf(key),
        ]),
      ),
    ).toEqual({
      DynamicUser: 'yes',
      NoNewPrivileges: 'yes',
      ProtectSystem: 'strict',
      CapabilityBoundingSet: '',
    });
    expect(settingOf('StateDirectory')).toBe('cvrsync');
    expect(Number(settingOf('TimeoutStopSec'))).toBeGreaterThan(25);
  });

  it('names in docs/deployment.md, for commands, the files of all secrets under the variables of the unit', () => {
    const page = readFileSync(join(ROOT, 'docs/deployment.md'), 'utf8');
    const [, commands = ''] = /^To run a \[command\][\s\S]*?```sh\n([\s\S]*?)```/mu.exec(page) ?? [];
    const exported = [...commands.matchAll(/(\w+_FILE)=(\S+)/gu)].map(([, name, file]) => `${name} ${file}`);
    const files = new Map(
      lines.flatMap((line) => [...line.matchAll(/^LoadCredential=(\w+):(\S+)/gu)].map(([, id, file]) => [id, file])),
    );
    const given = [...(settingOf('Environment') ?? '').matchAll(/(\w+_FILE)=%d\/(\w+)/gu)];
    expect(exported).toEqual(given.map(([, name, id]) => `${name} ${files.get(id)}`));
    expect(exported.length).toBeGreaterThan(0);
  });

  it('gives it each secret as a file that the environment names', () => {
    const credentials = lines.flatMap((line) => /^LoadCredential=(\w+):/u.exec(line)?.[1] ?? []);
    const named = [...(settingOf('Environment') ?? '').matchAll(/_FILE=%d\/(\w+)/gu)].map(
      ([, credential]) => credential,
    );
    expect(named).toEqual(credentials);
    expect(credentials.length).toBeGreaterThan(0);
  });
});
