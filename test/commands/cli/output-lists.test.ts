import { expect, it } from 'vitest';
import { createOutput, type OutputPage } from '../../../src/commands/cli/output.ts';

async function* pagesOf(...pages: readonly OutputPage[]) {
  yield* pages;
}

it.each<[string, readonly OutputPage[], object]>([
  ['no list', [], {}],
  ['a page without rows', [{ list: 'a', rows: [] }], {}],
  [
    'lists of several pages',
    [
      { list: 'a', rows: [{ text: 'two\nlines "quoted"' }] },
      { list: 'a', rows: [{ deep: { more: [1, 'secret'] } }, 2] },
      { list: 'b', rows: [null] },
    ],
    { a: [{ text: 'two\nlines "quoted"' }, { deep: { more: [1, '•'] } }, 2], b: [null] },
  ],
])('a document of %s is written page by page as it would be whole', async (_, pages, lists) => {
  const parts: string[] = [];
  const stdout = {
    write: (text: string) => parts.push(text),
    scrub: (text: string) => (text === 'secret' ? '•' : text),
  };
  const head = { entity: 'secret', at: 'now' };
  await createOutput(stdout, false).lists(head, 'tables', pagesOf(...pages));
  expect(parts.join('')).toBe(`${JSON.stringify({ entity: '•', at: 'now', tables: lists }, null, 2)}\n`);
});
