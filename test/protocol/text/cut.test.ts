import { expect, it } from 'vitest';
import { cutText } from '../../../src/protocol/text/cut.ts';
import { maskerOf } from '../../../src/protocol/text/mask.ts';

it('a text that fits stays; a longer one is cut with a sign, and within no character', () => {
  expect(cutText('abcde', 5)).toBe('abcde');
  expect(cutText('abcdef', 5)).toBe('abcd…');
  expect(cutText('abc😀def', 5)).toBe('abc…');
  expect(cutText('abc', 0)).toBe('…');
});

it('a secret is masked as it is, and as addresses, forms and JSON spell it', () => {
  const secret = 'a "b"+c/ø';
  const mask = maskerOf([secret]);
  const spelled = [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ key: secret }).toString(),
    JSON.stringify(secret),
  ];
  expect(spelled.map(mask)).toEqual(['***', '***', 'key=***', '"***"']);
});
