import { describe, expect, it } from 'vitest';
import { foldLetters } from '../../../src/protocol/danish/letters.ts';

describe('Danish letters', () => {
  it.each([
    'Sørensen',
    'Soerensen',
    'Sorensen',
    'SØRENSEN',
    'S\u00c3\u00b8rensen',
    'So\u0308rensen',
    'S›rensen',
    'S\u00c3\u0192\u00c2\u00b8rensen',
    'S&oslash;rensen',
  ])('of %s are folded alike', (name) => expect(foldLetters(name)).toBe('sorensen'));

  it('are repaired where UTF-8 was read as Windows’ code page, and only there', () => {
    expect(foldLetters('\u00c3\u2020blegÃ¥rd & SÃ¸n, CafÃ©')).toBe(foldLetters('Æblegård & Søn, Café'));
    expect(foldLetters('S\u00c3\u00b8n – Ærø')).toBe(foldLetters('Søn – Ærø'));
    expect(foldLetters('São Paulo')).toBe('sao paulo');
    expect(foldLetters('Åse')).toBe('ase');
  });
});
