import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const [, variables = '', flag = ''] =
  /^#!\/usr\/bin\/env -S (MALLOC_\S+ MALLOC_\S+) node (\S+)\n/u.exec(textOf('src/cvrsync.js')) ?? [];

// A size of the young generation counts only from the start: set later it is taken and changes nothing.
test('the daemon starts with the same flag of Node as a program, in the image and by npm', () => {
  expect(flag).toMatch(/^--max-semi-space-size=\d+$/u);
  expect(textOf('Dockerfile')).toContain(`ENTRYPOINT ["node", "${flag}", "/app/dist/cvrsync.js"]`);
  expect(JSON.parse(textOf('package.json')).scripts.start).toBe(`exec node ${flag} src/cvrsync.js serve`);
});

test('the image allocates memory as the program does', () => {
  expect(textOf('Dockerfile')).toContain(`\nENV ${variables}\n`);
});

// The kernel cuts off what is longer.
test('the first line of the program is short enough for any Linux', () => {
  expect(textOf('src/cvrsync.js').split('\n')[0]?.length).toBeLessThan(127);
});

test('Node takes the flag, and the growth that the entry sets for itself', () => {
  const [, growth = ''] = /setFlagsFromString\('(\S+)'\)/u.exec(textOf('src/cvrsync.js')) ?? [];
  expect(execFileSync(process.execPath, [flag, growth, '-p', '1 + 1'], { encoding: 'utf8' })).toBe('2\n');
});
