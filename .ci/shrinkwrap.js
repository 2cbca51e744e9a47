/**
 * Pins what an installation of the package brings: writes `npm-shrinkwrap.json` from the lock file, without the packages of
 * development. With `--remove` it takes the file away, since npm reads it here instead of the lock file.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const FILE = 'npm-shrinkwrap.json';
if (process.argv.includes('--remove')) rmSync(FILE, { force: true });
else {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const { devDependencies: _, ...root } = lock.packages[''];
  const shipped = Object.entries(lock.packages).filter(([folder, { dev }]) => folder !== '' && dev !== true);
  writeFileSync(
    FILE,
    `${JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(shipped) } }, null, 2)}\n`,
  );
}
