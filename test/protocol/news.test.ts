import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  entityToken,
  escapeHtml,
  NEWS_TYPE_NAMES,
  NEWS_TYPES,
  newsTypeNamed,
  plainText,
  withoutTokens,
} from '../../src/protocol/news.ts';

const anyName = fc.string({ maxLength: 30, unit: 'binary' });
const tokensIn = (text: string): [string, string][] =>
  [...text.matchAll(/\{([^{}|]*)\|([^{}|]*)\}/g)].map(([, name = '', id = '']) => [name, id]);

describe('news types', () => {
  it('are known by id and by name in any case', () => {
    for (const name of NEWS_TYPE_NAMES) {
      expect(newsTypeNamed(NEWS_TYPES[name])).toBe(name);
      expect(newsTypeNamed(` ${NEWS_TYPES[name]} `)).toBe(name);
      expect(newsTypeNamed(name.toUpperCase())).toBe(name);
    }
    expect(NEWS_TYPE_NAMES).toHaveLength(12);
  });

  it('are unknown by anything else', () => {
    for (const text of ['', '0', '26.0', '99', 'Accounts', 'constructor', '__proto__'])
      expect(newsTypeNamed(text)).toBeUndefined();
  });
});

describe('the token of an entity', () => {
  it('is one token of two parts, whatever the name', () => {
    fc.assert(
      fc.property(anyName, anyName, anyName, (name, before, after) => {
        const text = `${withoutTokens(before)}${entityToken(name, 'CVR-1-10000001')}${withoutTokens(after)}`;
        const tokens = tokensIn(text);
        expect(tokens).toHaveLength(1);
        expect(tokens[0]?.[0].trim()).not.toBe('');
        expect(tokens[0]?.[1]).toBe('CVR-1-10000001');
      }),
    );
  });

  it('gives an ordinary name back as it is', () => {
    expect(tokensIn(entityToken('Prøvelund Møbler & Søn A/S', 'cvr-1-10000001'))).toEqual([
      ['Prøvelund Møbler & Søn A/S', 'CVR-1-10000001'],
    ]);
  });

  it('holds one token too where the name is escaped for HTML', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const tokens = tokensIn(entityToken(escapeHtml(name), 'CVR-3-4000000001'));
        expect(tokens).toHaveLength(1);
        expect(tokens[0]?.[0]).not.toMatch(/[<>"']/);
      }),
    );
  });

  it('stands in for what would end the name early', () => {
    expect(entityToken('A|B {C}\r\n\tD', 'CVR-1-10000001')).toBe('{A¦B (C) D|CVR-1-10000001}');
  });

  it('never shows an id for a name: a nameless entity is called what it is; one without an id goes by its name', () => {
    expect(entityToken(' ', 'CVR-1-10000001')).toBe('{en virksomhed|CVR-1-10000001}');
    expect(entityToken('CVR-3-4000000001', 'CVR-3-4000000001')).toBe('{en person|CVR-3-4000000001}');
    expect(entityToken('cvr-2-1000000001', 'CVR-2-1000000001')).toBe('{en produktionsenhed|CVR-2-1000000001}');
    expect(entityToken('Eksempla {Testesen}', 'nobody')).toBe('Eksempla (Testesen)');
  });
});

describe('replacing tokens', () => {
  it('leaves malformed ones as they are', () => {
    for (const text of ['{}', '{|}', '{A}', '{A|}', '{ |CVR-1-1}', '{A|B|C}', '{A|CVR-1-1', 'A|CVR-1-1}', '{{A}'])
      expect(plainText(text)).toBe(text);
  });

  it('gives text without tokens back as it is', () => {
    fc.assert(fc.property(anyName.map(withoutTokens), (text) => plainText(text) === text));
  });

  it('replaces each of several, also where `$` would mean something', () => {
    expect(plainText('{A|CVR-1-1} og {$&|CVR-1-2}')).toBe('A og $&');
  });
});
