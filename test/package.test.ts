/** What is published: packed, installed in an empty folder without a network, and used as an author of a provider would. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL } from './support/all.ts';
import { installPacked, runProgram } from './support/packed.ts';
import { startRegistry } from './support/registry.ts';

const ROOT = join(import.meta.dirname, '..');
const OURS = join(ROOT, 'node_modules');
let folder = '';
let home = '';
let author = '';

interface Pinned {
  readonly dependencies?: object;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly gypfile?: boolean;
}

const node = (args: readonly string[], cwd = home) => runProgram(process.execPath, args, cwd);
const cvrsync = (args: readonly string[], cwd = home) =>
  node([join(home, 'node_modules/cvrsync/dist/cvrsync.js'), ...args], cwd);
const tsc = (args: readonly string[], cwd: string) => node([join(OURS, 'typescript/bin/tsc'), ...args], cwd);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-package-'));
  home = await installPacked(folder, { hasTypes: true });
  author = join(home, 'super-crm');
  const made = await cvrsync(['provider', 'new', 'super-crm']);
  expect(made.code, made.stderr).toBe(0);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the published package', () => {
  it('pins every package that comes with it, of which no one runs a script at the installation', async () => {
    const { packages } = JSON.parse(await readFile(join(home, 'node_modules/cvrsync/npm-shrinkwrap.json'), 'utf8'));
    const { '': root, ...shipped }: Record<string, Pinned> = packages;
    const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(root?.dependencies).toEqual(dependencies);
    for (const name of Object.keys(dependencies)) expect(shipped).toHaveProperty([`node_modules/${name}`]);
    const open = Object.entries(shipped).filter(
      ([, { integrity, dev, hasInstallScript }]) => !integrity?.startsWith('sha512-') || dev || hasInstallScript,
    );
    expect(open).toEqual([]);
    // npm compiles a package with this file unless the pin says otherwise.
    const compiled = Object.entries(shipped).filter(
      ([place, { gypfile }]) => gypfile !== false && existsSync(join(ROOT, place, 'binding.gyp')),
    );
    expect(compiled).toEqual([]);
    expect(Object.keys(shipped).length).toBeLessThan(185);
  });

  it('holds a provider package to begin with, which builds', async () => {
    const built = await tsc(['-p', author], author);
    expect([built.code, built.stdout]).toEqual([0, '']);
    expect(await readdir(join(author, 'dist/src'))).toContain('provider.d.ts');
  });

  it('runs the tests of that package: every rule, and its own', async () => {
    const tested = await node(['--test', '--test-reporter=tap', 'test/*.test.ts'], author);
    expect(tested.code, tested.stdout).toBe(0);
    expect(Number(/^# pass (\d+)/m.exec(tested.stdout)?.[1])).toBeGreaterThan(30);
    expect(tested.stdout).toContain('order-of-outcomes');
    expect(tested.stdout).toMatch(/^ok \d+ - notes: .* # SKIP the connection does not have the ability$/m);
  });

  it('finds no rule broken in it', async () => {
    const tried = await cvrsync(['--json', 'provider', 'test', 'super-crm']);
    expect(tried.code, tried.stderr + tried.stdout).toBe(0);
    const { kept, broken, skipped } = JSON.parse(tried.stdout);
    expect([kept > 30, broken, skipped]).toEqual([true, 0, 0]);
  });

  it('loads what was built by its path, with its settings and mapping', async () => {
    const configured = { use: './super-crm/dist/src/provider.js', baseUrl: 'https://crm.example.com', token: 'secret' };
    const connector = { webhook: { auth: { method: 'None' } }, providers: { crm: configured } };
    await writeFile(join(home, 'sync.json'), JSON.stringify({ connector }));
    const shown = await cvrsync(['--config', 'sync.json', '--json', 'config', 'show']);
    expect(shown.code, shown.stderr).toBe(0);
    const [crm] = JSON.parse(shown.stdout).providers;
    expect(crm).toMatchObject({ use: 'super-crm', settings: { callsPerSecond: 10 } });
    expect(shown.stdout).not.toContain('"secret"');
  });

  it('has what its documents name for systemd, Kubernetes and Prometheus, the sample register, and no secrets', async () => {
    const packed = join(home, 'node_modules/cvrsync');
    const compose = ['compose', 'compose.postgres.yaml', 'compose.tls.yaml', 'compose.yaml'];
    const deployed = [...compose, 'grafana', 'helm', 'prometheus', 'systemd'];
    expect((await readdir(join(packed, 'deploy'))).toSorted()).toEqual(deployed);
    expect(await readdir(join(packed, 'deploy/systemd'))).toEqual(['cvrsync.service']);
    expect(await readdir(join(packed, 'src'))).toEqual(['README.md']);
    const register = { source: 'file', path: 'node_modules/cvrsync/samples/register' };
    await writeFile(join(home, 'service.json'), JSON.stringify({ service: { register } }));
    const checked = await cvrsync(['--config', 'service.json', 'check', '--all']);
    expect(checked.stdout).toContain('samples/register gives documents');
  });

  it('states the licences of the packages that were taken in', async () => {
    const licences = await readFile(join(home, 'node_modules/cvrsync/dist/LICENSES.txt'), 'utf8');
    for (const name of [
      'commander',
      'htm',
      'kysely',
      'preact',
      'preact-render-to-string',
      'prom-client',
      'typebox',
      'yaml',
    ])
      expect(licences).toMatch(
        new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((MIT|ISC|Apache-2\\.0)\\)\\n\\n\\s*\\S`, 'm'),
      );
  });

  it('is ASCII, of which Node keeps a byte a character in memory, and two of any other text', async () => {
    const dist = join(home, 'node_modules/cvrsync/dist');
    const files = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.js'));
    expect(files.length).toBeGreaterThan(20);
    const texts = await Promise.all(
      files.map(async (name) => [name, await readFile(join(dist, name), 'latin1')] as const),
    );
    const wide = texts.filter(([name, text]) => !name.includes('assets') && /[\u0080-\u00ff]/u.test(text));
    expect(wide.map(([name]) => name)).toEqual([]);
  });

  it('finds the files of the dashboard beside its chunk', async () => {
    const dist = join(home, 'node_modules/cvrsync/dist');
    expect((await readdir(join(dist, 'chunks/assets'))).toSorted()).toEqual(
      (await readdir(join(ROOT, 'src/dashboard/assets'))).toSorted(),
    );
    const [chunk = ''] = (await readdir(join(dist, 'chunks'))).filter((name) => /^dashboard-.*\.js$/.test(name));
    const loaded = await node([
      '-e',
      `import('${join(dist, 'chunks', chunk)}').then((it) => console.log(Object.keys(it).length))`,
    ]);
    expect([loaded.stderr, loaded.stdout]).toEqual(['', '1\n']);
  });

  it('gives authors the contract and the suite, and nothing else', async () => {
    const exported = (name: string) => `import * as it from '${name}'; console.log(Object.keys(it).join());`;
    const seen = async (name: string) => (await node(['--input-type=module', '-e', exported(name)])).stdout.trim();
    expect(await seen('cvrsync/provider')).toBe(
      'FIELDS,FIELD_NAMES,ProviderError,defineProvider,isFieldName,retryAfterMs',
    );
    expect(await seen('cvrsync/testing')).toBe('BrokenRule,conformance,defineSubject,judge,openTestHttp,serveEmulator');
    expect((await node(['--input-type=module', '-e', exported('cvrsync/dist/main.js')])).stderr).toContain(
      'ERR_PACKAGE_PATH_NOT_EXPORTED',
    );
  });
});

// npm installs what it needs, which takes as long as all else here.
describe.runIf(ALL)('the package that provider new writes', () => {
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  beforeAll(async () => {
    registry = await startRegistry(ROOT);
  });
  afterAll(() => registry.close());

  /** Writes a package, and has npm install what it needs. The compiler's own program is large, and here already. */
  async function authored(name: string, ...options: readonly string[]): Promise<string> {
    const made = await cvrsync(['provider', 'new', name]);
    expect(made.code, made.stderr).toBe(0);
    const cwd = join(home, name);
    const places = ['--registry', registry.url, '--cache', join(folder, 'cache')];
    const installed = await runProgram('npm', ['install', ...places, '--omit=optional', '--no-audit', ...options], cwd);
    expect(installed.code, installed.stderr).toBe(0);
    return cwd;
  }

  it('installs before cvrsync is published, asks no registry for a cvrsync, and builds', async () => {
    const cwd = await authored('early-crm');
    expect(registry.asked).toContain('typescript');
    expect(registry.asked).not.toContain('cvrsync');
    const linked = await realpath(join(cwd, 'node_modules/cvrsync'));
    expect(linked).toBe(await realpath(join(home, 'node_modules/cvrsync')));
    const built = await tsc([], cwd);
    expect([built.code, built.stdout]).toEqual([0, '']);
  });

  it('takes cvrsync from the registry once it came from there, in the version that wrote it or a newer one', async () => {
    const { version, dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const { typebox, undici } = dependencies;
    registry.publish('cvrsync', { version, dependencies: { typebox, undici } });
    const lock = join(home, 'node_modules/.package-lock.json');
    const fetched = { resolved: 'https://registry.npmjs.org/cvrsync/-/cvrsync-0.1.0.tgz' };
    await writeFile(lock, JSON.stringify({ packages: { 'node_modules/cvrsync': fetched } }));
    const cwd = await authored('late-crm', '--package-lock-only').finally(() => rm(lock));
    expect(registry.asked).toContain('cvrsync');
    const { packages } = JSON.parse(await readFile(join(cwd, 'package-lock.json'), 'utf8'));
    expect([packages['node_modules/cvrsync'].version, packages['node_modules/cvrsync'].link]).toEqual([
      version,
      undefined,
    ]);
    expect(packages[''].peerDependencies).toEqual({ cvrsync: `>=${version}` });
  });
});
