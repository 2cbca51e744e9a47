/** The package as it is published: built, packed, and unpacked into an empty folder beside the packages that it needs. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BUILD } from './program.ts';

const ROOT = join(import.meta.dirname, '../..');
const OURS = join(ROOT, 'node_modules');

/** Runs a program; what it printed, whatever its exit code. */
export async function runProgram(file: string, args: readonly string[], cwd: string) {
  const env = { ...process.env, NODE_OPTIONS: '', VITEST: '', NODE_TEST_CONTEXT: undefined };
  return promisify(execFile)(file, args, { cwd, env, maxBuffer: 16_000_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

/** The same, which must not fail. */
async function done(file: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await runProgram(file, args, cwd);
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

/** All that is packed beside the build. */
const COPIED = [
  ...['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'CONTRIBUTING.md', 'SECURITY.md', 'src/README.md'],
  ...['samples', 'deploy', 'scaffold', 'providers', 'docs'],
];

/** Installs the package below `folder`; where `npx cvrsync` finds it. `hasTypes`: with the declarations for authors, which take long. */
export async function installPacked(
  folder: string,
  { hasTypes = false }: { readonly hasTypes?: boolean } = {},
): Promise<string> {
  const built = join(folder, 'built');
  await mkdir(built);
  await cp(BUILD, join(built, 'dist'), { recursive: true });
  if (hasTypes) {
    const types = ['-p', join(ROOT, 'src'), '--outDir', join(built, 'dist/types')];
    await done(process.execPath, [join(OURS, 'typescript/bin/tsc'), ...types], ROOT);
  }
  for (const name of COPIED)
    await cp(join(ROOT, name), join(built, name), {
      recursive: true,
      filter: (path) => !/providers\/.*\.ts$/.test(path),
    });
  await cp(join(ROOT, 'package-lock.json'), join(built, 'package-lock.json'));
  await done(process.execPath, [join(ROOT, '.ci/shrinkwrap.js')], built);
  await mkdir(join(built, 'deploy/secrets'), { recursive: true });
  await writeFile(join(built, 'deploy/secrets/hubspot_access_token'), 'a-secret');
  const packed = await done('npm', ['pack', '--ignore-scripts', '--offline', '--silent'], built);
  const home = join(folder, 'home');
  const modules = join(home, 'node_modules');
  await mkdir(join(modules, '.bin'), { recursive: true });
  await done('tar', ['-xzf', join(built, packed.trim()), '-C', modules], built);
  await done('mv', ['package', 'cvrsync'], modules);
  const names = (await readdir(OURS)).filter((name) => !name.startsWith('.') && name !== 'cvrsync');
  for (const name of names) await symlink(join(OURS, name), join(modules, name));
  // As npm does it for each program of a package.
  await symlink('../cvrsync/dist/cvrsync.js', join(modules, '.bin/cvrsync'));
  await chmod(join(modules, 'cvrsync/dist/cvrsync.js'), 0o755);
  return home;
}
