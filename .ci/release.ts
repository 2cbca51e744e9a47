/**
 * Makes a release in the folder it is started in: `npm run release -- VERSION [--dry-run] [--skip-tests]`. It ends with a
 * commit and a tag here; to push them publishes the release. A dry run checks, packs and writes the bill of materials, and
 * names what it would do beyond that.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  billOf,
  bundledIn,
  changelogProblems,
  licenceProblems,
  type ShippedPackage,
  versionProblems,
} from './release-rules.ts';

const CHART = 'deploy/helm/cvrsync/Chart.yaml';
const OUT = 'release';
const TESTS = ['npm run lint', 'npm run types', 'npm test'];
const VERSIONED = ['package.json', 'package-lock.json', CHART];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false }, 'skip-tests': { type: 'boolean', default: false } },
});
const [version = ''] = positionals;
const isDry = options['dry-run'];

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Ends the release, with what is wrong. */
function refuse(problems: readonly string[]): never {
  process.stderr.write(problems.map((line) => `${line}\n`).join(''));
  process.exit(1);
}

/** What a program prints; the release ends where it fails. */
function read(program: string, args: readonly string[], cwd = '.'): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 64_000_000 });
  if (status !== 0) refuse([`${[program, ...args].join(' ')} failed`, String(stdout ?? ''), String(stderr ?? '')]);
  return stdout;
}

/** Runs a command for all to see; a dry run only names it. */
function run(program: string, ...args: readonly string[]): void {
  const line = [program, ...args.map((arg) => (arg.includes(' ') ? `"${arg}"` : arg))].join(' ');
  say(isDry ? `would run: ${line}` : `runs: ${line}`);
  if (!isDry && spawnSync(program, args, { stdio: 'inherit' }).status !== 0) refuse([`${line} failed`]);
}

const text = (path: string): string => readFileSync(path, 'utf8');

/** The packages that come with an installation, by their folders. */
function productionPackages(): ReadonlyMap<string, ShippedPackage> {
  const { packages } = JSON.parse(text('package-lock.json'));
  const found = Object.entries<{ version: string; license?: string; dev?: boolean }>(packages).filter(
    ([folder, { dev }]) => folder !== '' && dev !== true,
  );
  return new Map(
    found.map(([folder, { version, license }]) => {
      const manifest = join(folder, 'package.json');
      const licence = license ?? (existsSync(manifest) ? JSON.parse(text(manifest)).license : undefined);
      const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return [folder, { name, version, licence }];
    }),
  );
}

/** What must be right before anything is changed. */
function check(present: string, packages: readonly ShippedPackage[]): void {
  const problems = [
    ...versionProblems(version, present),
    ...changelogProblems(text('CHANGELOG.md'), version),
    ...(read('git', ['status', '--porcelain']) === '' ? [] : ['git: there are changes that are not committed']),
    ...(read('git', ['tag', '--list', `v${version}`]) === '' ? [] : [`git: the tag v${version} exists`]),
    ...licenceProblems(packages),
  ];
  if (problems.length > 0) refuse(problems);
  say(`${version} follows ${present}; changelog, git and the licences of ${packages.length} packages are right`);
}

function setVersion(): void {
  run('npm', 'version', version, '--no-git-tag-version', '--ignore-scripts');
  say(`${isDry ? 'would set' : 'sets'} version and appVersion in ${CHART}`);
  if (!isDry) writeFileSync(CHART, text(CHART).replaceAll(/^(version|appVersion): .*$/gmu, `$1: ${version}`));
}

/** Packs, puts the package into an empty folder beside what an installation brings, and starts it there. */
function pack(expected: string, folders: Iterable<string>): void {
  mkdirSync(OUT, { recursive: true });
  read('npm', ['pack', '--silent', '--pack-destination', OUT]);
  const { name, bin } = JSON.parse(text('package.json'));
  const archive = resolve(OUT, `${name}-${expected}.tgz`);
  const home = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const target = join(home, 'node_modules', name);
    mkdirSync(target, { recursive: true });
    read('tar', ['-xzf', archive, '-C', target, '--strip-components=1']);
    // No package of development: what the program needs of one is in its files, or it fails here. Nested ones come along.
    for (const folder of folders) {
      if (folder.lastIndexOf('node_modules/') > 0 || !existsSync(folder)) continue;
      mkdirSync(dirname(join(home, folder)), { recursive: true });
      symlinkSync(resolve(folder), join(home, folder));
    }
    const printed = read(process.execPath, [join(target, bin[name]), '--version'], home).trim();
    if (!printed.includes(expected)) refuse([`the installed package says ${printed}, not ${expected}`]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  say(`${OUT}/${name}-${expected}.tgz starts in an empty folder and says ${expected}`);
}

/** Writes the bill of materials, and checks the licences of what the build took in. */
function writeBill(shipped: readonly ShippedPackage[]): void {
  const bundled = existsSync('dist/LICENSES.txt') ? bundledIn(text('dist/LICENSES.txt')) : [];
  const problems = licenceProblems(bundled);
  if (problems.length > 0) refuse(problems);
  const { name, version: now, license: licence } = JSON.parse(text('package.json'));
  const bill = read('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']);
  const own = billOf(bill, { name, version: now, licence }, [...shipped, ...bundled]);
  writeFileSync(join(OUT, 'sbom.cdx.json'), own);
  say(`${OUT}/sbom.cdx.json lists ${JSON.parse(own).components.length} packages, ${bundled.length} in our own files`);
}

const { version: present } = JSON.parse(text('package.json'));
const packages = productionPackages();
check(present, [...packages.values()]);
for (const line of TESTS) {
  if (options['skip-tests']) say(`SKIPPED by --skip-tests: ${line}`);
  else run('npm', ...line.split(' ').slice(1));
}
setVersion();
if (!isDry) say(`to take the version back: git restore ${VERSIONED.join(' ')}`);
run('npm', 'run', 'release:check');
pack(isDry ? present : version, packages.keys());
writeBill([...packages.values()]);
run('git', 'add', ...VERSIONED);
run('git', 'commit', '-m', `Release ${version}`);
run('git', 'tag', '-a', `v${version}`, '-m', `cvrsync ${version}`);
say(`${isDry ? 'then' : 'now'} publish it: git push --follow-tags`);
