/**
 * Copies what a build needs of node_modules, and nothing else, into a folder: `node .ci/trim.js dist OUT`. What is needed is
 * traced from the build's files: whole packages are ten times as large.
 */
import { cpSync, globSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { nodeFileTrace } from '@vercel/nft';

const [build = 'dist', out = 'production'] = process.argv.slice(2);
const base = resolve(import.meta.dirname, '..');
const entries = globSync('**/*.js', { cwd: resolve(build) }).map((file) => join(resolve(build), file));
// The build holds its own copy; a provider of others imports it beside the package, as `provider new` writes it.
const forProviders = globSync('node_modules/typebox/{package.json,license,build/**/*.mjs}', { cwd: base });
const { fileList } = await nodeFileTrace(entries, {
  base,
  // The sources of the binary, which stands beside them for each kind of machine.
  ignore: ['node_modules/better-sqlite3/deps/**', 'node_modules/better-sqlite3/src/**'],
});
const binary = `/${process.platform}-${process.arch}.node`;
const needed = [...fileList, ...forProviders].filter(
  (file) => file.startsWith('node_modules/') && (!file.includes('/prebuilds/') || file.endsWith(binary)),
);
for (const file of needed) {
  if (lstatSync(join(base, file)).isDirectory()) continue;
  const target = join(resolve(out), file);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(base, file), target, { dereference: true });
}
process.stdout.write(`${needed.length} files in ${resolve(out, 'node_modules')}\n`);
