import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTRACT_VERSION } from '../../providers/provider.ts';
import { specOf } from '../../src/commands/provider/own-package.ts';
import { namesFrom } from '../../src/commands/provider/scaffold.ts';
import { runCli } from '../support/cli.ts';
import { startCommand } from '../support/command.ts';

const SUBJECTS = join(import.meta.dirname, '../providers/kit/conformance/subjects');
const RULES = ['--rule', 'order-of-outcomes', '--rule', 'order-of-reads', '--rule', 'moved'];
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-provider-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('provider new', () => {
  it('writes a package under its own names, and never overwrites another one', async () => {
    const target = join(folder, 'new');
    const made = await runCli(['provider', 'new', '@acme/super-crm', '--folder', target]);
    expect([made.code, made.stderr]).toEqual([0, '']);
    const manifest = JSON.parse(await readFile(join(target, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: '@acme/super-crm', cvrsync: { subject: './test/subject.ts' } });
    expect(manifest.peerDependencies.cvrsync).toMatch(/^>=\d/);
    // No registry knows the version of a clone: the package is built with the one that runs.
    expect(resolve(target, manifest.devDependencies.cvrsync.replace(/^file:/, ''))).toBe(resolve('.'));
    const provider = await readFile(join(target, 'src/provider.ts'), 'utf8');
    expect(provider).toContain("export const superCrm = defineProvider({\n  name: 'super-crm',");
    const readme = await readFile(join(target, 'README.md'), 'utf8');
    expect(readme).toMatch(/^# @acme\/super-crm\n/);
    expect(readme).toContain('    super-crm:\n      use: "@acme/super-crm"');
    expect(readme).toContain('SUPER_CRM_TOKEN');
    expect(provider + readme).not.toMatch(/my-?crm/i);
    const again = await runCli(['provider', 'new', 'other', '--folder', target]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is not empty')]);
    const inFile = await runCli(['provider', 'new', 'other', '--folder', join(target, 'package.json/other')]);
    expect([inFile.code, inFile.stderr]).toEqual([
      2,
      expect.stringMatching(/cannot be created \(ENOTDIR\): name a folder/),
    ]);
  });

  it('builds with the installation itself, packed if it belongs to another user, because npm cannot link that', async () => {
    const home = join(folder, 'installation-of-another');
    await mkdir(home);
    await writeFile(join(home, 'package.json'), JSON.stringify({ name: 'cvrsync', version: '1.2.3' }));
    const { uid } = await stat(home);
    const own = { home, version: '1.2.3', user: uid };
    expect(await specOf(own, folder)).toBe('file:installation-of-another');
    expect(await specOf({ ...own, user: uid + 1 }, folder)).toBe('file:cvrsync-1.2.3.tgz');
    expect((await stat(join(folder, 'cvrsync-1.2.3.tgz'))).isFile()).toBe(true);
  });

  it.each(['My CRM', '../up', '', 'crm/', '-crm', '@acme'])('refuses the name %j', async (name) => {
    const { code, stderr } = await runCli(['provider', 'new', '--folder', join(folder, 'never'), '--', name]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not a valid name for a provider')]);
  });

  it('spells a name as each place requires', () => {
    expect(namesFrom('big-sales-hub')).toEqual({
      package: 'big-sales-hub',
      provider: 'big-sales-hub',
      code: 'bigSalesHub',
      title: 'Big Sales Hub',
      env: 'BIG_SALES_HUB',
    });
  });
});

describe('provider test', () => {
  it('reports each rule, and skipped ones with the reason', async () => {
    const { code, stdout } = await runCli(['provider', 'test', join(SUBJECTS, 'sound.ts'), ...RULES]);
    expect(code).toBe(0);
    expect(stdout).toContain('✓ order-of-outcomes: ');
    expect(stdout).toMatch(/- moved: .*\(skipped: the toy never merges\)/);
    expect(stdout).toContain(`toy, contract ${CONTRACT_VERSION}: 2 rules kept, 0 broken, 1 skipped`);
  });

  it('names a broken rule with the observation and its importance, and fails', async () => {
    const { code, stdout } = await runCli(['provider', 'test', join(SUBJECTS, 'broken.ts'), ...RULES]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ order-of-outcomes: .*\n {4}seen: .*expected.*\n {4}why it matters: .*wrong company/);
  });

  it('breaks only the rule in which a provider never answers, loops or leaves a timer', async () => {
    const rules = ['tells-the-account', 'order-of-reads', 'order-of-outcomes', 'gone', 'whole-provider'];
    const { code, stdout } = await runCli([
      ...['provider', 'test', join(SUBJECTS, 'stuck.ts'), '--rule-seconds', '3'],
      ...rules.flatMap((rule) => ['--rule', rule]),
    ]);
    expect(code).toBe(1);
    const signs = stdout.split('\n').filter((line) => /^[✓✗]/.test(line));
    expect(signs.map((line) => line.split(':')[0]).sort()).toEqual(
      ['✓ whole-provider', '✗ tells-the-account', '✓ order-of-reads', '✗ order-of-outcomes', '✗ gone'].sort(),
    );
    expect(stdout).toContain('it did not end within 3 s: it loops or never answers');
  });

  it('ends at its total time, and names the untried rules', async () => {
    const { code, stdout } = await runCli(['provider', 'test', join(SUBJECTS, 'stuck.ts'), '--seconds', '0']);
    expect(code).toBe(1);
    expect(stdout).toContain('not tried: all rules together took more than 0 s');
  });

  it('refuses a contract that the loader refuses', async () => {
    const { code, stderr } = await runCli(['provider', 'test', join(SUBJECTS, 'newer.ts')]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('is built for version 99.0.0 of the provider contract'),
    ]);
  });

  it('is one JSON document for programs', async () => {
    const { code, stdout } = await runCli(['--json', 'provider', 'test', join(SUBJECTS, 'broken.ts'), ...RULES]);
    const report = JSON.parse(stdout);
    expect([code, report.provider, report.broken, report.results.length]).toEqual([1, 'toy', 1, 3]);
  });

  it('finds the subject of a package by its package.json', async () => {
    const home = join(folder, 'package');
    await mkdir(home, { recursive: true });
    const manifest = { name: 'toy', cvrsync: { subject: join('..', 'subject.ts') } };
    await writeFile(join(home, 'package.json'), JSON.stringify(manifest));
    await writeFile(
      join(folder, 'subject.ts'),
      `export { subject } from ${JSON.stringify(join(SUBJECTS, 'sound.ts'))};`,
    );
    expect((await runCli(['provider', 'test', home, ...RULES])).code).toBe(0);
  });

  it.each([
    ['a path to nothing', 'nowhere', 'there is nothing at'],
    ['a folder without a subject', '.', 'has no subject'],
    ['a file that exports none', 'none.ts', 'exports no subject'],
  ])('names the remedy for %s', async (_what, path, message) => {
    const home = join(folder, 'empty');
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'none.ts'), 'export const none = 1;');
    const { code, stderr } = await runCli(['provider', 'test', join(home, path)]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each([
    [
      'folder',
      'node_modules/installed-crm',
      'has no subject (./test/subject.ts): package.json names it, but it is not there',
    ],
    ['name', 'installed-crm', 'there is nothing at'],
  ])('says that an installed package has no tests, where one is named by its %s', async (_what, path, message) => {
    const home = join(folder, 'installation');
    const installed = join(home, 'node_modules/installed-crm');
    await mkdir(installed, { recursive: true });
    const manifest = { name: 'installed-crm', cvrsync: { subject: './test/subject.ts' } };
    await writeFile(join(installed, 'package.json'), JSON.stringify(manifest));
    const { code, stderr } = await startCommand(['provider', 'test', path], home).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).toContain('an installed package has no tests: name the folder of its source');
  });

  it('reports a wrong subject in one message, before any rule', async () => {
    const wrong = join(folder, 'wrong.ts');
    await writeFile(
      wrong,
      `import { subject as sound } from ${JSON.stringify(join(SUBJECTS, 'sound.ts'))};
      export const subject = { ...sound, start: async () => {} };`,
    );
    const { code, stdout, stderr } = await runCli(['provider', 'test', wrong]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      'cvrsync: the subject is wrong, not the provider: start gave undefined instead of the fake CRM that it opened\n',
    );
  });

  it('refuses a file with two subjects, and names both', async () => {
    const two = join(folder, 'two.ts');
    await writeFile(
      two,
      `export { subject as eu } from ${JSON.stringify(join(SUBJECTS, 'sound.ts'))};
      export { subject as us } from ${JSON.stringify(join(SUBJECTS, 'broken.ts'))};`,
    );
    const { code, stderr } = await runCli(['provider', 'test', two]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('it exports eu and us, each a subject')]);
  });

  it('lists its rules', async () => {
    const { code, stderr } = await runCli(['provider', 'test', join(SUBJECTS, 'sound.ts'), '--rule', 'status-429x']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean status-429?')]);
  });
});

describe('a plugin', () => {
  const plugin = async (): Promise<string> => {
    const file = join(folder, 'own.mjs');
    const typebox = JSON.stringify(import.meta.resolve('typebox'));
    await writeFile(
      file,
      `import Type from ${typebox};
      export const own = {
        name: 'own-crm', contract: '2.0.0', about: 'own', preset: [], limits: () => ({}), connect: async () => ({}),
        settings: Type.Object({
          baseUrl: Type.String({ description: 'Where it is.' }),
          token: Type.String({ secret: true }),
          pages: Type.Integer({ default: 7 }),
        }),
      };`,
    );
    return file;
  };

  it('is documented by config init like a built-in provider', async () => {
    const { code, stdout } = await runCli(['config', 'init', await plugin(), '--print']);
    expect(code).toBe(0);
    expect(stdout).toContain('    own-crm:\n');
    expect(stdout).toContain(`      # Where it is.\n      baseUrl: \${OWN_CRM_BASE_URL}`);
    expect(stdout).toContain(`token: \${OWN_CRM_TOKEN}`);
    expect(stdout).toContain('# pages: 7');
    expect(stdout).toContain('# autoLink: false');
    expect(stdout).not.toContain('use: hubspot');
  });

  it('is described by config schema', async () => {
    const file = await plugin();
    const { code, stdout } = await runCli(['config', 'schema', file]);
    expect(code).toBe(0);
    const rules: { if: { properties: { use: { const: string } } }; then: { required: string[] } }[] =
      JSON.parse(stdout).properties.connector.properties.providers.additionalProperties.allOf;
    const own = rules.find((rule) => rule.if.properties.use.const === file);
    expect(own?.then.required).toContain('baseUrl');
  });
});
