import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/protocol/news.ts';
import { cleanHtml } from '../../../../src/service/news/wording/clean-html.ts';
import { growthOf, MOST_LINEAR_GROWTH } from '../../../support/growth.ts';
import { itemOf } from '../samples.ts';

const article = {
  source: 'Opdigtet Presse',
  headline: 'Prøvelund {ansætter|flytter}',
  tagline: null,
  content: '<p>Ti <a href="javascript:alert(1)" onclick="x()">lærlinge</a></p>',
  time: '2026-03-01T10:00:00.000Z',
  link: 'https://press.example/1',
};

describe('an article', () => {
  it('is press, with its own time, link and source', () => {
    expect(itemOf({ newArticle: article }, { kind: 'article' })).toMatchObject({
      type: 'PressAgency',
      provider: 'PressAgency',
      headline: 'Prøvelund (ansætter|flytter)',
      tagLine: '{Prøvelund Møbler A/S|CVR-1-10000001}',
      content: '<p>Ti lærlinge</p><p>Virksomhed: {Prøvelund Møbler A/S|CVR-1-10000001}</p>',
      time: Date.parse('2026-03-01T10:00:00.000Z'),
      url: 'https://press.example/1',
      providerData: {
        sourceName: 'Opdigtet Presse',
        url: 'https://press.example/1',
        published: '2026-03-01T10:00:00.000Z',
      },
    });
  });

  it('names its company as an entity where its texts do', () => {
    const texts = (headline: string, tagline: string) => {
      const item = itemOf({ newArticle: { ...article, headline, tagline } });
      return [item.headline, item.tagLine];
    };
    expect(texts('Dekret: PRØVELUND MØBLER A/S', 'Om Prøvelund Møbler A/S, igen Prøvelund Møbler A/S')).toEqual([
      'Dekret: {Prøvelund Møbler A/S|CVR-1-10000001}',
      'Om {Prøvelund Møbler A/S|CVR-1-10000001}, igen Prøvelund Møbler A/S',
    ]);
    expect(texts('Nyprøvelund Møbler A/S', 'Prøvelund Møbler A/SX')).toEqual([
      'Nyprøvelund Møbler A/S',
      'Prøvelund Møbler A/SX',
    ]);
  });

  it('belongs to the gazette if its source is the gazette', () => {
    const item = itemOf({ newArticle: { ...article, source: 'gazette', link: 'javascript:alert(1)', time: 'soon' } });
    expect(item).toMatchObject({
      type: 'Gazette',
      provider: 'Gazette',
      url: 'https://register.example/enhed/virksomhed/10000001',
    });
    expect(item.time).toBe(Date.parse('2026-03-02T09:10:11.000Z'));
  });
});

describe('foreign HTML', () => {
  it.each([
    ['<p class="x" style="y">A <B>b</B><br/>c</p>', '<p>A <b>b</b><br>c</p>'],
    ['<div><p>A</div>', '<p>A</p>'],
    ['</p></ul>A', '<p>A</p>'],
    ['<ul><li>A<li>B</ul>C', '<ul><li>A<li>B</li></li></ul>C'],
    ['<script>alert(1)</script><p>A</p><style>p{}</style>', '<p>A</p>'],
    ['<p>A<script>alert(1)', '<p>A</p>'],
    ['<scr<script></script>ipt>alert(1)</script>', '<p>alert(1)</p>'],
    ['<p>A<!-- <b> --> B</p><!DOCTYPE x>', '<p>A B</p>'],
    ['<img src=x onerror="alert(1)"><p title=">">A</p>', '<p>A</p>'],
    ['<p>1 < 2 & 3 &gt; 2 &amp; &nope; &#60;</p>', '<p>1 &lt; 2 &amp; 3 &gt; 2 &amp; &amp;nope; &lt;</p>'],
    ['<p>&#48;&#x31;&aelig;&amp;lt;</p>', '<p>01æ&amp;lt;</p>'],
    ['{A|CVR-1-1} &#123;A|CVR-1-1&#x7D;', '<p>(A|CVR-1-1) (A|CVR-1-1)</p>'],
    ['A\nB', '<p>A<br>B</p>'],
    ['', ''],
  ])('%j becomes %j', (html, clean) => {
    expect(cleanHtml(html)).toBe(clean);
  });

  it('keeps nothing but plain tags, whatever the input', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '/',
      'p',
      'script',
      '<p',
      '<b>',
      '</b>',
      '<!--',
      '-->',
      ' ',
      '=',
      '&',
      '{',
      '|',
      '}',
      '&#123;',
      '&lcub;',
      '<svg',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const clean = cleanHtml(pieces.join(''));
        expect(clean.replace(/<\/?(?:p|b|br)>/g, '')).not.toMatch(/[<>]/);
        expect(plainText(clean)).toBe(clean);
        expect(clean).not.toMatch(/[{}]/);
        const opened = (tag: string): number => clean.split(tag).length;
        expect(opened('<p>')).toBe(opened('</p>'));
        expect(opened('<b>')).toBe(opened('</b>'));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['<a', '<a "', '<a \'"', '<!', '<!--', '<script', '&', '<p>', '{', '<p><b>'])(
    'is read in linear time: %j repeated',
    (piece) => {
      expect(growthOf((times) => cleanHtml(piece.repeat(times)), 4_000)).toBeLessThan(MOST_LINEAR_GROWTH);
    },
  );

  it('is read in linear time: tags that close what was never opened', () => {
    const read = (times: number) => cleanHtml('<p>'.repeat(times) + '</b>'.repeat(times));
    expect(growthOf(read, 4_000)).toBeLessThan(MOST_LINEAR_GROWTH);
  });
});
