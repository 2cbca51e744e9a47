/** Which files are fast, and what a run does without the documents that lie outside. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fastTestFiles, filesThatImport, testFiles } from './fast-files.ts';
import { inOrder } from './order.ts';
import { findOutside } from './outside.ts';

it('runs fast what neither starts a process nor opens a store', () => {
  const fast = fastTestFiles();
  expect(fast).toContain('test/connector/decide/decide.test.ts');
  expect(fast.length).toBeGreaterThan(100);
  const sources = fast.map((file) => readFileSync(file, 'utf8'));
  for (const slow of ['support/stores.ts', 'support/daemon.ts', 'support/command.ts', 'child_process']) {
    expect(sources.filter((text) => text.includes(`${slow}';`))).toEqual([]);
  }
});

it('keeps out a file that opens a store through another file', () => {
  const opens = testFiles().filter((file) =>
    /^import .* from '..\/support\/fixture.ts';/m.test(readFileSync(file, 'utf8')),
  );
  expect(opens.length).toBeGreaterThan(0);
  expect(fastTestFiles().filter((file) => opens.includes(file))).toEqual([]);
});

it('names the tests that read documents from outside of the repository, and no test looks there by itself', () => {
  const readers = filesThatImport(['test/support/outside.ts']);
  expect(readers).toContain('test/service/register/reference.test.ts');
  const alone = testFiles().filter((file) => /'(?:\.\.\/)+shared\//.test(readFileSync(file, 'utf8')));
  expect(alone).toEqual([]);
});

it.each([
  ['CI is set', { CI: 'true' }, true],
  ['the folder is named', { CVRSYNC_SHARED: 'nowhere' }, true],
  ['nothing is set', {}, false],
  ['CI says that it has none', { CI: 'true', CVRSYNC_SHARED: '' }, false],
])('a missing folder of real documents, where %s: stops the run is %3$s', (_name, env, fatal) => {
  expect(findOutside(env, 'nowhere')).toMatchObject({ folder: undefined, problem: { fatal } });
});

it('begins with what takes long, by turns with large files, and leaves out none', () => {
  const files = testFiles();
  const order = inOrder(files);
  expect(order.toSorted()).toEqual(files);
  const last = order.slice(files.length / 2).map((file) => readFileSync(file, 'utf8'));
  for (const slow of ['support/daemon.ts', 'support/command.ts', 'browser.ts', 'conforms.ts'])
    expect(last.filter((text) => text.includes(`${slow}';`))).toEqual([]);
  expect(order.indexOf('test/protocol/text/cut.test.ts')).toBeGreaterThan(files.length / 2);
});
