/** Which export of a module is the provider, and the message if none is. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadProvider } from '../../../src/config/plugins/plugin.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-exported-'));
});
afterAll(() => rm(folder, { recursive: true }));

const PROVIDER = `const provider = (name) => ({
  name, contract: '2.0.0', about: '', preset: [], limits: () => ({}), connect: async () => ({}),
  settings: { type: 'object', '~kind': 'Object', properties: {}, required: [] },
});\n`;

/** The name of the provider that a module exports, or why there is none. */
async function load(text: string, kind = 'mjs'): Promise<string> {
  const name = `./${Math.random().toString(36).slice(2)}.${kind}`;
  await writeFile(join(folder, name), PROVIDER + text);
  const loaded = await loadProvider(name, folder);
  return loaded.ok ? loaded.provider.name : loaded.message.replace(name, 'IT');
}

describe('a file with two providers', () => {
  it('is refused with the names of both, and what to do', async () => {
    const both =
      'cannot be loaded: it exports eu and us, each a provider: make one of them the default export, or put each in a file of its own';
    expect(await load(`export const eu = provider('eu'), us = provider('us');`)).toBe(`IT ${both}`);
    expect(await load(`exports.eu = provider('eu'); exports.us = provider('us');`, 'cjs')).toContain(
      'eu and us, each a provider',
    );
  });

  it('gives the default export if one of them is that', async () => {
    expect(await load(`export const a = provider('a'); export default provider('b');`)).toBe('b');
    expect(
      await load(`exports.__esModule = true; exports.a = provider('a'); exports.default = provider('b');`, 'cjs'),
    ).toBe('b');
  });

  it('counts as one provider if it exports it under two names', async () => {
    expect(await load(`export const a = provider('a'); export { a as b };`)).toBe('a');
    expect(await load(`module.exports = provider('a'); module.exports.self = module.exports;`, 'cjs')).toBe('a');
  });
});

describe('a file without a provider is refused', () => {
  const NEEDED = 'IT exports no provider: an object with name, contract, settings and connect';

  it.each([
    ['a class', 'export class Crm {}', 'Its export Crm is a class: export an instance of it'],
    ['a default class', 'export default class {}', 'Its default export is a class: export an instance of it'],
    ['a function', `export const crm = () => provider('a');`, 'Its export crm is a function: export what it returns'],
    [
      'a promise',
      `export default Promise.resolve(provider('a'));`,
      'Its default export is a promise: await it, and export what it gives',
    ],
    [
      'a part of one',
      `export const crm = { name: 'crm', contract: 1 };`,
      'Its export crm has no contract, no connect of the right type',
    ],
  ])('with what it exports instead, %s, and what to do', async (_what, text, told) => {
    expect(await load(text)).toBe(`${NEEDED}. ${told}`);
  });

  it('the same for CommonJS, once', async () => {
    expect(await load('module.exports = class {};', 'cjs')).toBe(
      `${NEEDED}. Its default export is a class: export an instance of it`,
    );
  });
});

it('a provider may be a proxy that only answers what it is asked', async () => {
  const text = `export const crm = new Proxy({}, { get: (_, key) => provider('behind')[key] });`;
  expect(await load(text)).toBe('behind');
});
