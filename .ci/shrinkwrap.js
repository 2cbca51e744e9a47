/**
 * Pins what an installation of the package brings: writes `npm-shrinkwrap.json` from the lock file, without the packages of
 * development. With `--remove` it takes the file away, since npm reads it here instead of the lock file.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'npm-shrinkwrap.json';
const ROOT = join(import.meta.dirname, '..');

/** `gypfile: false` of a package that brings its binaries: npm leaves it out of a lock file, and then compiles the package. */
function gypOf(folder) {
  const file = join(ROOT, folder, 'package.json');
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).gypfile === false ? { gypfile: false } : {};
}

if (process.argv.includes('--remove')) rmSync(FILE, { force: true });
else {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const { devDependencies: _, ...root } = lock.packages[''];
  const shipped = Object.entries(lock.packages)
    .filter(([folder, { dev }]) => folder !== '' && dev !== true)
    .map(([folder, entry]) => [folder, { ...entry, ...gypOf(folder) }]);
  writeFileSync(
    FILE,
    `${JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(shipped) } }, null, 2)}\n`,
  );
}
