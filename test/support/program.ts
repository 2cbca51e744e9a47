/** The program as tests start it: built as it is published, in a process of its own, with nothing of our environment. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import path, { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BUILDS = join(ROOT, 'dist/.tests');
const SOURCES = ['src/**/*.{css,js,json,svg,ts}', 'providers/**/*.ts', 'rolldown.config.ts', 'package{,-lock}.json'];
/** No test run takes as long: a build that nobody began to use for this long is nobody's. */
const OLD_MS = 3_600_000;

/** The folder of a build: it starts in a third of the time of the sources, and is made anew if one of them changed. */
export const BUILD = built('rolldown.config.ts', SOURCES);
export const ENTRY = join(BUILD, 'cvrsync.js');

/** Compiled code is kept from one start to the next (`vitest.config.ts`). */
export const ENVIRONMENT = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '' };

/** A script `*-process.ts` of the tests, by its path, built for the same reason. */
export function builtScript(script: string): string {
  const build = built('test/support/scripts.config.ts', [...SOURCES, 'test/**/!(*.test).ts']);
  const { dir, name } = path.parse(path.relative(join(ROOT, 'test'), script));
  return join(build, dir, `${name}.js`);
}

function built(config: string, sources: readonly string[]): string {
  const digest = createHash('sha256').update(config);
  for (const file of globSync(sources, { cwd: ROOT }).sort()) {
    // Undefined if it was removed meanwhile.
    const found = statSync(join(ROOT, file), { throwIfNoEntry: false });
    digest.update(`${file} ${found?.size} ${found?.mtimeMs}\n`);
  }
  const build = join(BUILDS, digest.digest('hex').slice(0, 16));
  if (existsSync(build)) {
    const now = new Date();
    utimesSync(build, now, now);
    return build;
  }
  const making = `${build}-making-${process.pid}`;
  const rolldown = join(ROOT, 'node_modules/rolldown/bin/cli.mjs');
  execFileSync(process.execPath, [rolldown, '-c', config, '--dir', making, '--log-level', 'silent'], { cwd: ROOT });
  try {
    renameSync(making, build);
  } catch (error) {
    // Another worker was faster.
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(build)) throw error;
  }
  for (const other of readdirSync(BUILDS)) {
    // Undefined if another worker renamed or removed it meanwhile.
    const found = statSync(join(BUILDS, other), { throwIfNoEntry: false });
    if (found !== undefined && Date.now() - found.mtimeMs > OLD_MS)
      rmSync(join(BUILDS, other), { recursive: true, force: true });
  }
  return build;
}
