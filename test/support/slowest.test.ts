import { expect, test } from 'vitest';
import { slowest } from './slowest.ts';

test('the ten slowest files are shown, the slowest first', () => {
  const files = Array.from({ length: 12 }, (_, at): [string, number] => [`${at}.test.ts`, at * 1_234]);
  const lines = slowest(files);
  expect(lines).toHaveLength(10);
  expect(lines.slice(0, 2)).toEqual(['  13.6 s  11.test.ts', '  12.3 s  10.test.ts']);
});
