/** The program as tests start it: built as it is published, in a process of its own, with nothing of our environment. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BUILDS = join(ROOT, 'dist/.tests');
const SOURCES = ['src/**/*.{js,ts}', 'providers/**/*.ts', 'rolldown.config.ts', 'package-lock.json'];
/** No test run takes as long: a build of this age is nobody's. */
const OLD_MS = 3_600_000;

/** A build starts in a third of the time of the sources; it is made anew where one of them changed. */
export const ENTRY = join(built(), 'cvrsync.js');

/** Compiled code is kept from one start to the next: tests make hundreds, and a good third of what one takes is compiling. */
export const ENVIRONMENT = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/cvrsync-compiled') };

function built(): string {
  const digest = createHash('sha256');
  for (const file of globSync(SOURCES, { cwd: ROOT }).sort()) {
    const { size, mtimeMs } = statSync(join(ROOT, file));
    digest.update(`${file} ${size} ${mtimeMs}\n`);
  }
  const build = join(BUILDS, digest.digest('hex').slice(0, 16));
  if (existsSync(build)) return build;
  const making = join(BUILDS, `making-${process.pid}`);
  const rolldown = join(ROOT, 'node_modules/rolldown/bin/cli.mjs');
  execFileSync(process.execPath, [rolldown, '-c', '--dir', making, '--log-level', 'silent'], { cwd: ROOT });
  try {
    renameSync(making, build);
  } catch (error) {
    // Another worker was faster.
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(build)) throw error;
  }
  for (const other of readdirSync(BUILDS))
    if (Date.now() - statSync(join(BUILDS, other)).mtimeMs > OLD_MS)
      rmSync(join(BUILDS, other), { recursive: true, force: true });
  return build;
}
