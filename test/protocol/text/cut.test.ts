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

it('a secret is masked in base64, wherever it begins and ends, as a header with a user and a password has it', () => {
  const secret = 'p>ss?sesame~ø';
  const mask = maskerOf([secret]);
  for (const before of ['', 'u', 'us', 'user:', 'other:'])
    for (const after of ['', ':', ':a', ':and more'])
      for (const spelling of ['base64', 'base64url'] as const) {
        const masked = mask(`Basic ${Buffer.from(before + secret + after).toString(spelling)}`);
        const shown = masked.replace('***', '').slice('Basic '.length);
        expect(masked).toContain('***');
        // All that may be left is what was around it, and the characters that it shares with that.
        expect(shown.length).toBeLessThanOrEqual(Math.ceil(((before.length + after.length + 2) * 4) / 3) + 2);
      }
  expect(mask(`Basic ${Buffer.from(secret).toString('base64')}`)).toBe('Basic ***');
  expect(mask(`Basic ${Buffer.from(`use${secret}`).toString('base64')}`)).toBe('Basic dXNl***');
});
