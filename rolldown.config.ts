/**
 * How the program is built: our files, and the packages that are made of hundreds of small ones, become a few dozen. A
 * command loads about 1,100 files from the sources, and 150 as built: it starts in a third of the time.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type Plugin } from 'rolldown';

/** Taken into the build: hundreds of small files each, and none that opens a connection. All others stay as npm installs them. */
const TAKEN_IN = ['commander', 'htm', 'kysely', 'preact', 'preact-render-to-string', 'prom-client', 'typebox', 'yaml'];
const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'package.json'), 'utf8'),
);
const outside = new Set(Object.keys(dependencies).filter((name) => !TAKEN_IN.includes(name)));

export default defineConfig({
  input: {
    cvrsync: 'src/cvrsync.js',
    main: 'src/main.ts',
    // Beside the chunks that start them as threads.
    'chunks/trial-worker': 'src/commands/provider/trial-worker.ts',
    'chunks/copy-worker': 'src/store/recovery/copy-worker.ts',
    provider: 'providers/author.ts',
    testing: 'providers/testing.ts',
  },
  platform: 'node',
  external: (id) => outside.has(packageOf(id)),
  output: {
    dir: 'dist',
    cleanDir: true,
    sourcemap: true,
    // Node keeps the text of each loaded file: without comments it is smaller, in ASCII it takes one byte a character.
    comments: false,
    charset: 'ascii',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
  plugins: [licences(), assets()],
});

/** The package that an import names: `a` of `a/b`, `@a/b` of `@a/b/c`. */
function packageOf(id: string): string {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Writes names, versions and licences of all packages that were taken in: their terms ask for it, and audits do. */
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_, bundle) {
      const files = Object.values(bundle).flatMap((output) => (output.type === 'chunk' ? output.moduleIds : []));
      const folders = new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
      const texts = [...folders].sort().map(licenceOf);
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: texts.join(`\n\n${'-'.repeat(80)}\n\n`) });
    },
  };
}

/** Puts the dashboard's stylesheet, script and icon beside its chunk, where it looks for them. */
function assets(): Plugin {
  const folder = path.join(import.meta.dirname, 'src/dashboard/assets');
  return {
    name: 'assets',
    generateBundle() {
      for (const name of globSync('*', { cwd: folder }))
        this.emitFile({
          type: 'asset',
          fileName: `chunks/assets/${name}`,
          source: readFileSync(path.join(folder, name)),
        });
    },
  };
}

function licenceOf(folder: string): string {
  const { name, version, license }: Record<string, string> = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  const [file] = globSync('LICEN[CS]E{,.md,.txt}', { cwd: folder });
  const text = file === undefined ? '' : readFileSync(path.join(folder, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}`;
}
