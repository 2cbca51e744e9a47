import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTRACT_VERSION } from '../../../providers/provider.ts';
import { loadProvider } from '../../../src/config/plugins/plugin.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-plugin-'));
});
afterAll(() => rm(folder, { recursive: true }));

const TYPEBOX = JSON.stringify(import.meta.resolve('typebox'));

/** A module that exports a provider, with some of it put otherwise. */
const module = (changes = '', before = ''): string => `
  import Type from ${TYPEBOX};
  ${before}
  export const crm = {
    name: 'crm', contract: '2.0.0', about: 'a CRM',
    settings: Type.Object({ baseUrl: Type.String() }),
    preset: [{ field: 'name', property: 'title', policy: 'tracked' }],
    limits: () => ({ batch: { read: 1, update: 1 }, concurrency: 1, budgets: { default: { calls: 1, perMs: 1 } } }),
    connect: async () => ({}),
    ${changes}
  };
`;

const load = async (text: string, name = `./${Math.random().toString(36).slice(2)}.mjs`, importMs?: number) => {
  await writeFile(join(folder, name), text);
  const loaded = await loadProvider(name, folder, importMs);
  return loaded.ok ? loaded.provider.name : loaded.message.replace(name, 'IT');
};

describe('a plugin', () => {
  it('is loaded by path', async () => {
    expect(await load(module())).toBe('crm');
  });

  it('is loaded as a CommonJS module too', async () => {
    const text = module()
      .replace(/import Type.*/, `const Type = require('typebox');`)
      .replace('export const crm =', 'module.exports.crm =');
    await mkdir(join(folder, 'node_modules'), { recursive: true });
    const types = text.replace(
      'Type.Object({ baseUrl: Type.String() })',
      '({ "~kind": "Object", type: "object", properties: {} })',
    );
    expect(await load(types.replace(/const Type.*/, ''), './common.cjs')).toBe('crm');
  });

  it.each([
    ['for require and import', { default: './index.js' }],
    ['for import only', { import: './index.js' }],
    ['for import only, said in short', './index.js'],
  ])('is loaded from a package that is %s', async (what, entry) => {
    const name = `crm-${what.length}`;
    const home = join(folder, 'node_modules', name);
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'index.js'), module());
    await writeFile(
      join(home, 'package.json'),
      JSON.stringify({
        name,
        version: '1.0.0',
        type: 'module',
        exports: typeof entry === 'string' ? entry : { '.': entry },
      }),
    );
    expect(await loadProvider(name, folder)).toMatchObject({ ok: true });
  });

  it.each([
    ['throws on import', module('', `throw new Error('no licence')`), 'IT cannot be loaded: no licence'],
    ['throws no error', module('', `throw 'no licence'`), 'IT cannot be loaded: no licence'],
    [
      'exports none',
      'export const one = 1;',
      'IT exports no provider: an object with name, contract, settings and connect',
    ],
    [
      'is of another major version',
      module(`contract: '1.6.0',`),
      `IT is built for version 1.6.0 of the provider contract, this is ${CONTRACT_VERSION}: install a version of it that fits`,
    ],
    [
      'is of a newer minor version',
      module(`contract: '2.99.0',`),
      `IT is built for version 2.99.0 of the provider contract, this is ${CONTRACT_VERSION}: update cvrsync, or install an older version of it`,
    ],
    [
      'states no version',
      module(`contract: 'latest',`),
      `IT states "latest" as its contract: it should be a version such as ${CONTRACT_VERSION}`,
    ],
    [
      'has no settings',
      module('settings: {},'),
      'IT is not a whole provider: settings (a Type.Object of typebox 1), preset (a list) and limits (a function) are needed',
    ],
    [
      'takes the name of a common key',
      module('settings: Type.Object({ match: Type.String() }),'),
      'IT has a setting named match, which means something else in every connection',
    ],
    [
      'maps what is no field',
      module(`preset: [{ field: 'nmae', property: 'x', policy: 'always' }],`),
      'IT maps "nmae" in its preset, which is not a company field',
    ],
    [
      'maps to nothing',
      module(`preset: [{ field: 'name', policy: 'always' }],`),
      'IT maps name to no property in its preset',
    ],
    [
      'has a policy of its own',
      module(`preset: [{ field: 'name', property: 'x', policy: 'mostly' }],`),
      'IT gives name no policy in its preset (tracked, always, if-blank, never)',
    ],
  ])('that %s is refused with advice', async (_what, text, message) => {
    expect(await load(text)).toBe(message);
  });

  it('that is a folder is refused, with a request for its file', async () => {
    expect(await loadProvider('./', folder)).toEqual({
      ok: false,
      message: './ is a folder: name the file in it that exports the provider',
    });
  });

  it('that hangs on import is abandoned', async () => {
    const text = module('', 'await new Promise(() => setInterval(() => {}, 60_000).unref());');
    expect(await load(text, './hangs.mjs', 200)).toMatch(/^IT cannot be loaded: its import did not end within 1 s/);
  });
});
