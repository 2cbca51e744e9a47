/** Syntax errors of plugins as Node reports them, in a process of its own: the test runner reads modules differently. */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { startCommand } from '../../support/command.ts';
import { newFolder } from '../../support/stores.ts';

/** What the program says of the first of these files as a plugin, with paths in its folder as `~/…`. */
async function told(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = realpathSync(newFolder());
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const [use = ''] = Object.keys(files);
  const { code, stderr } = await startCommand(['config', 'schema', `./${use}`], folder).ended;
  expect(code).toBe(2);
  return stderr.replaceAll(folder, '~');
}

test.each(['mjs', 'mts', 'cjs'])('a syntax error in a file .%s is reported with file and line', async (kind) => {
  expect(await told({ [`own.${kind}`]: 'const a = 1;\nconst b c = 3;\n' })).toMatch(
    new RegExp(`^cvrsync: ./own.${kind} cannot be loaded: .* at ~/own.${kind}:2$`, 'mu'),
  );
});

test('a syntax error in a TypeScript file that a plugin imports is reported with that file', async () => {
  expect(await told({ 'own.mjs': `import './inner.mts';`, 'inner.mts': 'const b c = 3;' })).toContain(
    ' at ~/inner.mts:1\n',
  );
});

test.each([
  ['ts', 'imports', `import fs from 'node:fs';`],
  ['js', 'exports', 'export const a = 1;'],
])('a module .%s that %s in a folder of CommonJS is reported with its right name', async (kind, _what, text) => {
  expect(await told({ [`own.${kind}`]: text, 'package.json': '{ "type": "commonjs" }' })).toContain(
    ` at ~/own.${kind}:1: its package.json says that it is CommonJS. Call it .m${kind}, or write "type": "module" in that package.json\n`,
  );
});
