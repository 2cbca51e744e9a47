/** Texts compared letter by letter, and letters that are odd. */
import { describe, expect, it } from 'vitest';
import { codeOf, compareLetters, oddityOf } from '../../../src/protocol/text/letters.ts';

const marked = (own: string, other: string): string =>
  compareLetters(own, other)
    .map(({ text, differs }) => (differs ? `[${text}]` : text))
    .join('');

describe('two texts', () => {
  it.each([
    ['Birk ApS', 'Birk ApS', 'Birk ApS'],
    ['Birk Byg ApS', 'Birk ApS', 'Birk [Byg ]ApS'],
    ['Birk ApS', 'Birk Byg ApS', 'Birk ApS'],
    ['Nordlys Møbler', 'Nordlys Moebler', 'Nordlys M[ø]bler'],
    ['+4599999999', '+4530405060', '+45[99999999]'],
    ['🏭 Nord', '🏠 Nord', '[🏭] Nord'],
    ['', 'Nord', ''],
  ])('%j beside %j', (own, other, wanted) => {
    expect(marked(own, other)).toBe(wanted);
  });

  it('of any length are compared at once', () => {
    const long = 'ab'.repeat(5_000);
    expect(
      compareLetters(`x${long}y`, `z${long.slice(1)}w`)
        .map(({ text }) => text)
        .join(''),
    ).toBe(`x${long}y`);
  });
});

describe('a letter', () => {
  it.each([
    ['\u00a0', 'Birk\u00a0ApS', 'space', 'U+00A0'],
    ['\u200b', 'Birk\u200bApS', 'unseen', 'U+200B'],
    ['\u202e', 'Birk\u202eApS', 'unseen', 'U+202E'],
    ['\u00ad', 'Birk\u00adApS', 'unseen', 'U+00AD'],
    ['\u0410', 'Birk \u0410pS', 'alike', 'U+0410'],
    ['\u03bf', 'N\u03bfrd', 'alike', 'U+03BF'],
    ['\uff21', '\uff21pS', 'alike', 'U+FF21'],
    ['\u030a', 'A\u030argaard', 'combining', 'U+030A'],
    ['\u0410', '\u0410\u041e', undefined, 'U+0410'],
    [' ', 'Birk ApS', undefined, 'U+0020'],
    ['å', 'Ålborg å', undefined, 'U+00E5'],
  ])('%j in %j', (letter, text, wanted, code) => {
    expect([oddityOf(letter, text), codeOf(letter)]).toEqual([wanted, code]);
  });
});
