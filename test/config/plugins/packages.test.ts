/** Which module of a package a plugin is, and the message if it cannot be loaded. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadProvider } from '../../../src/config/plugins/plugin.ts';

let folder = '';
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'cvrsync-packages-')));
});
afterAll(() => rm(folder, { recursive: true }));

/** A module that exports a provider of this name. */
const provider = (name: string): string =>
  `export const crm = {
    name: '${name}', contract: '2.0.0', about: '', preset: [], limits: () => ({}), connect: async () => ({}),
    settings: { type: 'object', '~kind': 'Object', properties: {}, required: [] },
  };`;

/** Installs a package of these files. */
async function install(name: string, manifest: object, files: Readonly<Record<string, string>>): Promise<void> {
  const all = { ...files, 'package.json': JSON.stringify({ name, version: '1.0.0', type: 'module', ...manifest }) };
  for (const [file, text] of Object.entries(all)) await write(join('node_modules', name, file), text);
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

/** The name of the provider, or why there is none, with paths in the folder as `~/…`. */
async function load(use: string): Promise<string> {
  const loaded = await loadProvider(use, folder);
  return loaded.ok ? loaded.provider.name : loaded.message.replaceAll(folder, '~');
}

describe('a plugin named by a subpath of its package', () => {
  it.each([
    ['for import only', (file: string) => ({ import: file })],
    ['for require and import', (file: string) => file],
  ])('is the export of that subpath, if the package is %s', async (what, target) => {
    const name = `@acme/many-${what.length}`;
    const exports = { '.': target('./one.js'), './other': target('./other.js'), './of/*': target('./*.js') };
    await install(name, { exports }, { 'one.js': provider('one'), 'other.js': provider('other') });
    expect(await load(name)).toBe('one');
    expect(await load(`${name}/other`)).toBe('other');
    expect(await load(`${name}/of/other`)).toBe('other');
  });

  it('is refused if the package does not export it, with what it exports', async () => {
    await install(
      'few',
      { exports: { '.': { import: './one.js' }, './other': './one.js' } },
      { 'one.js': provider('one') },
    );
    expect(await load('few/nonsense')).toBe(
      'few/nonsense cannot be loaded: its package exports no ./nonsense, but ., ./other (~/node_modules/few/package.json)',
    );
    expect(await load('few/one.js')).toContain('its package exports no ./one.js, but ., ./other');
  });

  it('is a file of a package without exports', async () => {
    await install('plain', { main: 'one.js' }, { 'one.js': provider('one'), 'other.js': provider('other') });
    expect(await load('plain/other.js')).toBe('other');
    expect(await load('plain/absent.js')).toContain('its file ~/node_modules/plain/absent.js is not there');
  });
});

describe('a plugin that is not found', () => {
  it('is distinguished from a module that it imports', async () => {
    await install('peerless', { exports: './one.js' }, { 'one.js': `import 'cvrsync-absent';` });
    expect(await load('peerless')).toBe(
      'peerless cannot be loaded: ~/node_modules/peerless/one.js imports cvrsync-absent, which is not installed: install it next to the plugin',
    );
    expect(await load('absent')).toBe('absent cannot be loaded: it is neither built in nor installed');
  });

  it('is distinguished from a module that its CommonJS requires', async () => {
    await install('peerless-cjs', { type: 'commonjs', main: 'one.js' }, { 'one.js': `require('cvrsync-absent');` });
    expect(await load('peerless-cjs')).toContain(
      '~/node_modules/peerless-cjs/one.js imports cvrsync-absent, which is not installed',
    );
  });

  it('is distinguished from one that was never built', async () => {
    const advice = 'build the package, or install it again';
    await install('unbuilt', { exports: './dist/one.js' }, {});
    expect(await load('unbuilt')).toBe(
      `unbuilt cannot be loaded: its file ~/node_modules/unbuilt/dist/one.js is not there: ${advice}`,
    );
    await install('half-built', { exports: './one.js' }, { 'one.js': `import './dist/two.js';` });
    expect(await load('half-built')).toContain(
      '~/node_modules/half-built/one.js imports ~/node_modules/half-built/dist/two.js, which is not there: build the plugin',
    );
  });

  it('by its path is reported with the whole path', async () => {
    expect(await load('./absent.mjs')).toBe(
      './absent.mjs cannot be loaded: there is no file ~/absent.mjs: a path begins at the folder of the configuration',
    );
  });
});

describe('a plugin whose import throws an object', () => {
  it('is reported with what the object holds', async () => {
    await write('thrower.mjs', `throw { status: 'no licence' };`);
    expect(await load('./thrower.mjs')).toBe("./thrower.mjs cannot be loaded: { status: 'no licence' }");
  });
});
